import { setTimeout as sleep } from 'node:timers/promises'

import { apiUrl, tokenUrl } from './peer.ts'

/** How long the issuer and the API take for an answer, in milliseconds. */
const issuerTakes = 200

/** An issuer and an API behind a `fetch` of this process, so that a storm is only as strong as its caller. */
export class Service {
  tokenRequests = 0
  /** Of the tokens that are issued from now on, in seconds. */
  lifetime = 3_600
  issuer: 'answers' | 'fails' | 'refuses' = 'answers'
  /** How long the API takes for its next answer, in milliseconds; `undefined` answers at once. */
  apiTakes: (() => number) | undefined
  #issued = 0
  readonly #live = new Map<string, number>()

  /** Every token that was issued until now is worth nothing. */
  revoke(): void {
    this.#live.clear()
  }

  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    const request = input instanceof Request ? input : undefined
    const url = request?.url ?? (input as string | URL).toString()
    if (url.startsWith(tokenUrl)) return this.#token()
    if (!url.startsWith(apiUrl)) throw new Error(`Cannot answer: nothing is at ${url}`)
    return this.#api(new Headers(init?.headers ?? request?.headers).get('authorization'))
  }

  async #token(): Promise<Response> {
    this.tokenRequests += 1
    await sleep(issuerTakes)
    if (this.issuer === 'fails') return new Response('busy', { status: 503 })
    if (this.issuer === 'refuses') return Response.json({ error: 'invalid_client' }, { status: 401 })
    const token = `token-${(this.#issued += 1)}`
    this.#live.set(`Bearer ${token}`, performance.now() + this.lifetime * 1_000)
    return Response.json({ access_token: token, token_type: 'Bearer', expires_in: this.lifetime })
  }

  /** The token is looked at when the call arrives, and the answer takes its time. */
  async #api(authorization: string | null): Promise<Response> {
    const isLive = performance.now() < (this.#live.get(authorization ?? '') ?? 0)
    if (this.apiTakes !== undefined) await sleep(this.apiTakes())
    return isLive
      ? Response.json({})
      : new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } })
  }
}
