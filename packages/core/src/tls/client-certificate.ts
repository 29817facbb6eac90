import { builtinModule } from '../runtime/builtin-module.ts'
import { environmentProxy } from './proxy.ts'

/** What counts of `node:https`. */
interface Https {
  readonly Agent: new (options: object) => object
  request(url: URL, options: object, listener: (response: IncomingMessage) => void): ClientRequest
}

interface IncomingMessage extends AsyncIterable<Uint8Array> {
  readonly statusCode?: number
  readonly headers: Readonly<Record<string, string | string[]>>
}

interface ClientRequest {
  on(event: 'error', listener: (error: Error) => void): void
  end(body: string | undefined): void
}

/** Whether this runtime can send a client certificate: `fetch` alone cannot. */
export function canSendCertificate(): boolean {
  return nodeHttps() !== undefined
}

/**
 * Returns a `fetch` for token requests that shows the client's certificate (RFC 8705 §2), at TLS 1.2 or later. It
 * goes through the proxy of the environment where the runtime's `fetch` does.
 */
export function certificateFetch({
  certificate: cert,
  privateKey: key,
}: {
  readonly certificate: string
  readonly privateKey: string
}): typeof globalThis.fetch {
  return async (target, { method = 'GET', headers, body, signal } = {}) => {
    const url = new URL(target instanceof Request ? target.url : target)
    const https = nodeHttps() as Https
    const proxyEnv = environmentProxy(url)?.used === true ? globalThis.process.env : undefined
    const agent = new https.Agent({ cert, key, minVersion: 'TLSv1.2', proxyEnv })
    const message = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = https.request(url, { method, headers, signal, agent }, resolve)
      request.on('error', reject)
      request.end((body as URLSearchParams | undefined)?.toString())
    })
    const fields = Object.entries(message.headers).map(([name, value]): [string, string] => [
      name,
      String(value),
    ])
    // the body is still to be read, up to the bound that every token response has
    return new Response(ReadableStream.from(message), { status: message.statusCode ?? 502, headers: fields })
  }
}

function nodeHttps(): Https | undefined {
  return builtinModule('node:https') as Https | undefined
}
