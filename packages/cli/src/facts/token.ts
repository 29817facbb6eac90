import { subscribe, unsubscribe } from 'node:diagnostics_channel'

import { isTokenlaneError, type TokenlaneError, type TokenManager } from '@tokenlane/core'
import type { ClientOutcome, Inspection } from '@tokenlane/core/adapter'

/** The outcome of the token request of one issuer. */
export interface TokenFacts {
  readonly issuer: string
  /** Remaining lifetime of the token, in milliseconds; `undefined` if the token was not obtained. */
  readonly lifetime?: number
  readonly error?: TokenlaneError
  /** How long it took to get the token or the error, in milliseconds. */
  readonly duration: number
  /** The issuer's outcome for each client of the credentials; set only if a token was obtained. */
  readonly clients?: readonly ClientOutcome[]
}

/** How long an issuer may take in all, in milliseconds. */
const longest = 10_000

const channel = 'tracing:tokenlane:token.request:error'

/**
 * Obtains an issuer's token, tries the other clients of its credentials, and returns the outcomes. Each client is tried
 * at most once.
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
    // the credentials provider failed when it was called again
    return facts
  }
}

/**
 * Obtains an issuer's token as the application does and returns the outcome. A failed token request is not retried,
 * except with the second of two secrets.
 */
async function lookAtToken(tokens: TokenManager, issuer: string): Promise<TokenFacts> {
  const start = performance.now()
  const stop = new AbortController()
  let first: TokenlaneError | undefined
  const onError = (message: unknown): void => {
    const { issuer: of, error } = message as { issuer?: string; error?: unknown }
    if (of !== issuer || !isTokenlaneError(error)) return
    first ??= error
    // stops the retries of core; after a definite refusal core stops by itself or tries the other secret
    if (error.definite !== true) stop.abort()
  }
  const offEvents = tokens.observe((event) => {
    // failures before the request, such as missing credentials
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
