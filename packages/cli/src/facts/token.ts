import { subscribe, unsubscribe } from 'node:diagnostics_channel'

import { isTokenlaneError, type TokenlaneError, type TokenManager } from '@tokenlane/core'
import type { ClientOutcome, Inspection } from '@tokenlane/core/adapter'

/** What became of the token request of one issuer. */
export interface TokenFacts {
  readonly issuer: string
  /** Lifetime that is left of the token that was obtained, in milliseconds. */
  readonly lifetime?: number
  readonly error?: TokenlaneError
  /** In milliseconds. */
  readonly duration: number
  /** What the issuer says to each of several clients, where one of them got a token. */
  readonly clients?: readonly ClientOutcome[]
}

/** How long an issuer may take in all, in milliseconds. */
const longest = 10_000

const channel = 'tracing:tokenlane:token.request:error'

/**
 * Obtains an issuer's token, and asks with each client of its credentials that was not needed for that. No client is
 * asked with twice.
 */
export async function lookAtIssuer(
  tokens: TokenManager,
  issuer: string,
  inspection: Inspection,
): Promise<TokenFacts> {
  const facts = await lookAtToken(tokens, issuer)
  if (facts.lifetime === undefined) return facts
  try {
    return { ...facts, clients: await inspection.tryClients(issuer) }
  } catch {
    // a provider that gives nothing the second time
    return facts
  }
}

/**
 * Obtains an issuer's token as the application does, by one token request: what fails is not tried again, except with
 * the second of two secrets.
 */
async function lookAtToken(tokens: TokenManager, issuer: string): Promise<TokenFacts> {
  const start = performance.now()
  const stop = new AbortController()
  let first: TokenlaneError | undefined
  const onError = (message: unknown): void => {
    const { issuer: of, error } = message as { issuer?: string; error?: unknown }
    if (of !== issuer || !isTokenlaneError(error)) return
    first ??= error
    // another try would come by itself; a refusal ends by itself, or goes on with another secret
    if (error.definite !== true) stop.abort()
  }
  const offEvents = tokens.observe((event) => {
    // what fails before a request, such as the credentials
    if (event.type === 'renewal.failed' && event.issuer === issuer) setImmediate(() => stop.abort())
  })
  subscribe(channel, onError)
  try {
    const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(longest)])
    const { expiresAt } = await tokens.getToken(issuer, { signal })
    const duration = performance.now() - start
    return { issuer, lifetime: expiresAt.getTime() - Date.now(), duration }
  } catch (error) {
    const failure = isTokenlaneError(error) ? error : first
    return { issuer, ...(failure && { error: failure }), duration: performance.now() - start }
  } finally {
    unsubscribe(channel, onError)
    offEvents()
  }
}
