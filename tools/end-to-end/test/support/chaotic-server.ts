import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that arrived, by the call that it belongs to. */
interface Arrival {
  readonly id: string
  readonly status: number
  readonly hasToken: boolean
}

export interface ChaoticServer {
  readonly origin: string
  readonly arrivals: readonly Arrival[]
  /** What no request may ever do, with the request that did. */
  readonly wrong: readonly string[]
  /** Returns the most of these requests that API `a` got in any span of this many milliseconds. */
  most(window: number, isCounted: (id: string) => boolean): number
  /** Makes the API refuse every token that it has taken until now. */
  revoke(api: string): void
  /** Returns the next token of an API. */
  issue(api: string): string
  close(): Promise<void>
}

interface Asked {
  readonly response: ServerResponse
  readonly api: string
  readonly id: string
  /** How many requests of the call have come. */
  readonly number: number
}

/**
 * Serves `/a/` and `/b/`, two APIs with tokens of their own, and `/outside/`. The path says what becomes of a call:
 * `/a/cut/c17` closes the connection of call c17.
 */
export async function openChaoticServer(): Promise<ChaoticServer> {
  const arrivals: Arrival[] = []
  const wrong: string[] = []
  const came: { readonly id: string; readonly time: number }[] = []
  const seen = new Map<string, number>()
  const generation: Record<string, number> = { a: 1, b: 1 }
  const challenge = { 'www-authenticate': 'Bearer error="invalid_token"' }

  const answers: Record<string, (call: Asked) => number | Promise<number>> = {
    ok: () => 200,
    slow: ({ id }) => new Promise((resolve) => setTimeout(resolve, Number(id.slice(1)) % 20, 200)),
    error: () => 500,
    forbidden: () => 403,
    gone: () => 0,
    half: () => -1,
    // a token that was good is refused once, as after a change of keys
    refused: ({ number }) => (number === 1 ? 401 : 200),
    moved: ({ response, api, id }) => redirect(response, `/${api}/ok/${id}.in`),
    across: ({ response, api, id }) => redirect(response, `/${api === 'a' ? 'b' : 'a'}/ok/${id}.out`),
    outside: ({ response, id }) => redirect(response, `/outside/ok/${id}.out`),
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, api = '', kind = '', id = ''] = (request.url ?? '').split('/')
    const { authorization = '' } = request.headers
    if (api === 'a' && authorization !== '') came.push({ id, time: performance.now() })
    for await (const _ of request);
    const number = (seen.get(id) ?? 0) + 1
    seen.set(id, number)
    const [, from, age] = /^Bearer (\w)-token-(\d+)$/.exec(authorization) ?? []
    // a hop out of its API goes bare, and so does what follows
    if (id.endsWith('.out') ? authorization !== '' : from !== api)
      wrong.push(`${request.method} ${request.url} came with "${authorization}"`)
    const isOld = from !== undefined && Number(age) < (generation[api] ?? 0)
    const status = isOld ? 401 : ((await answers[kind]?.({ response, api, id, number })) ?? 404)
    arrivals.push({ id, status, hasToken: authorization !== '' })
    if (status === 0) return void request.socket.destroy()
    if (status === -1) {
      response.writeHead(200, { 'content-length': '1000' })
      return void response.write('half', () => request.socket.destroy())
    }
    response.writeHead(status, status === 401 ? challenge : {})
    response.end('{"ok":true}')
  }

  const server = createServer((request, response) => {
    respond(request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrivals,
    wrong,
    most(window, isCounted) {
      const times = came.filter(({ id }) => isCounted(id)).map(({ time }) => time)
      let [first, most] = [0, 0]
      for (const [last, time] of times.entries()) {
        while ((times[first] ?? 0) <= time - window) first += 1
        most = Math.max(most, last - first + 1)
      }
      return most
    },
    revoke: (api) => void (generation[api] = (generation[api] ?? 0) + 1),
    issue: (api) => `${api}-token-${generation[api]}`,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

function redirect(response: ServerResponse, location: string): number {
  response.setHeader('location', location)
  // with which a stream as the body may be left behind
  return 303
}
