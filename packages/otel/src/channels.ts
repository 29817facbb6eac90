// The tracing channels of core, reduced to the messages of one manager.
import { tracingChannel } from 'node:diagnostics_channel'
import type { CallWaits, RenewalReason, ResendReason, TokenManager } from '@tokenlane/core'

/** The message of `tokenlane:token.request`; `code` is set if the request failed. */
export interface TokenRequest {
  readonly issuer: string
  readonly reason: RenewalReason
  readonly code?: string
  /** How long the request took, in milliseconds; set once it has ended. */
  readonly duration: number
}

/** The message of `tokenlane:call`. */
export interface Call {
  readonly api: string
  readonly issuer: string
  readonly resends: readonly ResendReason[]
  readonly waited: CallWaits
}

export const tokenRequests: ReturnType<typeof tracingChannel> = tracingChannel('tokenlane:token.request')
export const calls: ReturnType<typeof tracingChannel> = tracingChannel('tokenlane:call')

/**
 * Returns a subscriber that passes the messages of one manager to `receive`. Errors of `receive` are dropped, since an
 * error of a subscriber would end the process.
 */
export function only(tokens: TokenManager, receive: (message: never) => void): (message: unknown) => void {
  return (message) => {
    if ((message as { manager?: unknown }).manager !== tokens) return
    try {
      receive(message as never)
    } catch {
      // a failing meter or tracer must not affect calls
    }
  }
}

/** Calls `receive` with every token request of the manager that has ended, until the returned function is called. */
export function onTokenRequest(tokens: TokenManager, receive: (request: TokenRequest) => void): () => void {
  const subscriber = only(tokens, receive)
  tokenRequests.asyncEnd.subscribe(subscriber)
  return () => tokenRequests.asyncEnd.unsubscribe(subscriber)
}
