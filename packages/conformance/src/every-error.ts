import { createTokenManager, type TokenManager } from '@tokenlane/core'

import { hiddenLeaksIn, leaksIn, printed } from './printed.ts'
import { listen } from './loopback.ts'
import { issue, type Provocation, provocations, secret, status } from './provocations.ts'
import { refusalIn } from './driver.ts'

export { printed, provocations, type Provocation }

/** How one call is made, in the words of no client. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  readonly tokenlane?: { readonly priority?: number } | undefined
}

/** A client with its tokens: sends one GET, and gives what the client gives. */
export type Send = (url: string, options: CallOptions) => Promise<unknown>

/** What came of a provocation, and what shows a secret or a token. */
export interface Outcome {
  readonly outcome: unknown
  readonly code: string | undefined
  readonly leaks: readonly string[]
}

/** Provokes an error in a client, and looks for what must not be seen in all that it leaves behind. */
export async function provoke(
  { before, signal, tokenlane, ...given }: Provocation,
  attach: (tokens: TokenManager) => Send,
): Promise<Outcome> {
  await using server = await listen((request, response) =>
    request.url === '/token'
      ? (given.issuer ?? issue)(response)
      : (given.api ?? status(200))(response, request),
  )
  const events: unknown[] = []
  const tokens = createTokenManager({
    issuers: {
      general: {
        tokenEndpoint: `${server.origin}/token`,
        credentials: given.credentials ?? { clientId: 'client-1', clientSecret: secret },
        allowInsecureLoopback: true,
        requestTimeout: given.requestTimeout,
        maxWait: given.maxWait,
      },
    },
    apis: [{ baseUrl: `${server.origin}/api/`, issuer: 'general', ratePolicy: given.ratePolicy }],
    observe: (event) => events.push(event),
  })
  const url = `${server.origin}/api/records`
  await before?.(tokens, url)
  const send = attach(tokens)
  const outcome = await send(url, { signal: signal?.(), tokenlane }).catch((error: unknown) => error)

  const ours = [...events, tokens.status(), tokens, tokens.route(url)]
  const refusal = refusalIn(outcome)
  return {
    outcome,
    code: refusal?.code,
    leaks: [...hiddenLeaksIn([...ours, refusal]), ...leaksIn([outcome])],
  }
}
