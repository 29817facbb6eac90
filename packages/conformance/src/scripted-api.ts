import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request as it was on the wire. */
export interface SeenRequest {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** Names and values alternately, exactly as they arrived. */
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
}

/** What the server responds with. */
export interface ScriptedResponse {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body?: string | Uint8Array
  /** Whether the response never ends after `body`. Default: `false`. */
  readonly endless?: boolean
  /** Whether the connection breaks after `body`. Default: `false`. */
  readonly broken?: boolean
}

/** Returns the response to a request, which `number` counts from 1. `'cut'` closes its connection instead. */
export type Script = (
  request: SeenRequest,
  number: number,
) => ScriptedResponse | 'cut' | Promise<ScriptedResponse>

/** A plain HTTP server on loopback that shows what reached it and responds as a scenario says. */
export interface ScriptedApi {
  /** Ends in `/`. */
  readonly url: string
  readonly requests: readonly SeenRequest[]
  /** Returns how many responses are neither fully sent nor abandoned. */
  unfinished(): number
  close(): Promise<void>
}

/** A 401 that refuses the token. */
export const rejection: ScriptedResponse = {
  status: 401,
  headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
}

/** Starts a server that responds as the script says, by default with status 200. */
export async function openScriptedApi(script: Script = () => ({ status: 200 })): Promise<ScriptedApi> {
  const requests: SeenRequest[] = []
  let unfinished = 0
  const server = createServer((request, response) => {
    unfinished += 1
    response.once('close', () => (unfinished -= 1))
    // a client that is gone gets no response
    respond(request, response).catch(() => response.destroy())
  })

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers, rawHeaders } = request
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const seen = { method, url, headers, rawHeaders, body: Buffer.concat(chunks) }
    const scripted = await script(seen, requests.push(seen))
    if (scripted === 'cut') return void request.socket.destroy()
    response.writeHead(scripted.status, scripted.headers)
    const { body = '', endless = false, broken = false } = scripted
    if (broken) response.write(body, () => request.socket.destroy())
    else if (endless) response.write(body)
    else response.end(body)
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    requests,
    unfinished: () => unfinished,
    async close() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
