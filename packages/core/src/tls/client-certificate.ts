import { printable } from '../foreign-text.ts'
import { builtinModule } from '../runtime/builtin-module.ts'
import { environmentProxy } from './proxy.ts'

/** Whether this runtime can send a client certificate: `fetch` alone cannot. */
export function canSendCertificate(): boolean {
  return nodeHttps() !== undefined
}

export function tlsFault(identity: TlsIdentity): string | undefined {
  try {
    secureContext(identity)
    return undefined
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    return code.startsWith('ERR_OSSL') ? code : printable(message)
  }
}

/** Returns the certificate in a PKCS#12 file as PEM text, `undefined` where this runtime does not take it out. */
export function certificateIn(identity: TlsIdentity): string | undefined {
  const { X509Certificate } = builtinModule('node:crypto') as typeof import('node:crypto')
  try {
    const { context } = secureContext(identity) as { readonly context: { getCertificate(): Uint8Array } }
    return new X509Certificate(context.getCertificate()).toString()
  } catch {
    return undefined
  }
}

function secureContext(identity: TlsIdentity): object {
  return (builtinModule('node:tls') as typeof import('node:tls')).createSecureContext(identity as object)
}

/**
 * Returns a `fetch` for token requests that shows the client's certificate (RFC 8705 §2), at TLS 1.2 or later. It
 * goes through the proxy of the environment where the runtime's `fetch` does.
 */
export function certificateFetch(identity: TlsIdentity): CertificateFetch {
  return async (href, { method, headers, body: form, signal }) => {
    const url = new URL(href)
    const https = nodeHttps() as NodeHttps
    const proxyEnv = environmentProxy(url)?.used === true ? globalThis.process.env : undefined
    const options: object = { ...identity, minVersion: 'TLSv1.2', proxyEnv }
    const agent = new https.Agent(options)
    const message = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = https.request(url, { method, headers, signal, agent } as object, resolve)
      request.on('error', reject)
      request.end((form as URLSearchParams | undefined)?.toString())
    })
    const { statusCode: status = 502, headers: fields } = message
    // the body is still to be read, up to the bound that every token response has
    const decoded = decodedBody(message, fields['content-encoding'])
    // `Response` throws for a body with these
    const isEmpty = [204, 205, 304].includes(status)
    const body = isEmpty ? null : ReadableStream.from(decoded)
    return new Response(body as ConstructorParameters<typeof Response>[0], {
      status,
      headers: fields as Record<string, string>,
    })
  }
}

/** Decompresses a body: gateways compress whatever was asked for (RFC 9110 §8.4). */
function decodedBody(message: IncomingMessage, encodings = ''): AsyncIterable<unknown> {
  const zlib = builtinModule('node:zlib') as typeof import('node:zlib')
  const { pipeline } = builtinModule('node:stream') as typeof import('node:stream')
  const decoders: Readonly<Record<string, () => import('node:stream').Transform>> = {
    gzip: zlib.createGunzip,
    'x-gzip': zlib.createGunzip,
    deflate: zlib.createInflate,
    br: zlib.createBrotliDecompress,
    zstd: zlib.createZstdDecompress,
  }
  let decoded: IncomingMessage | import('node:stream').Transform = message
  for (const encoding of encodings
    .toLowerCase()
    .split(/[\s,]+/)
    .toReversed()) {
    const decoder = Object.hasOwn(decoders, encoding) ? decoders[encoding]?.() : undefined
    // a fault of the stream before ends this one with it
    if (decoder !== undefined) decoded = pipeline(decoded, decoder, () => {})
  }
  return decoded
}

/** A certificate and its key, as PEM text or in a PKCS#12 file, with the passphrase of what is encrypted; may be wrong. */
export type TlsIdentity = Readonly<Partial<Record<'cert' | 'key' | 'pfx' | 'passphrase', unknown>>>
type CertificateFetch = (href: string, init: RequestInit) => Promise<Response>
type NodeHttps = typeof import('node:https')
type IncomingMessage = import('node:http').IncomingMessage

function nodeHttps(): NodeHttps | undefined {
  return builtinModule('node:https') as NodeHttps | undefined
}
