import type { Api, SendOptions } from '../send/api.ts'
import { followRedirects, type Hop } from './redirects.ts'
import { ResponseExchange } from './response-exchange.ts'
import type { TokenManager } from '../token-manager.ts'

/** A call whose redirects are to be followed, and the API that it was sent to. */
export interface RedirectedCall {
  readonly call: Hop & { readonly replayable: boolean }
  readonly api: Api
  readonly tokens: Pick<TokenManager, 'route'>
  /** How the call itself was sent. */
  readonly options: SendOptions
  /** Makes ready to send a hop with `redirect: 'manual'`: with the token that is given, or without one. */
  readonly prepare: (hop: Hop) => Promise<(authorization?: string) => Promise<Response>>
}

/**
 * Follows the redirects of an answer, with the token for as long as they stay in the API. A hop outside of it, and
 * every hop after that, is sent without.
 *
 * @throws TypeError in the form of Node's own `fetch` for a redirect that cannot be followed.
 */
export function followWithinApi(
  answer: Response,
  { call, api, tokens, options: { signal, priority, resend, client }, prepare }: RedirectedCall,
): Promise<Response> {
  let inside = true
  return followRedirects(answer, call, async (hop) => {
    inside &&= tokens.route(hop.url) === api
    const send = await prepare(hop)
    if (!inside) return send()
    const options = { signal, priority, resend, client, method: hop.method, underway: true }
    return api.send((token) => ResponseExchange.of(send(token)), options)
  })
}
