import { asErrorOf, isTokenlaneError, withCause } from '@tokenlane/core/adapter'
import { type BeforeErrorHook, RequestError, TimeoutError } from 'got'

/** Why a call ends whose wait for a token took as long as its `timeout.request`, as got's own timer says it. */
export class TokenTimeout extends Error {
  override readonly name: string = 'TimeoutError'
  readonly code: string = 'ETIMEDOUT'
  readonly event: string = 'request'

  constructor(ms: number, cause: unknown) {
    super(`Timeout awaiting 'request' for ${ms}ms`, { cause })
  }
}

/** Unwraps an error of Tokenlane, which got puts into a RequestError, and leaves it what every error of got has. */
export const ownError: BeforeErrorHook = (error) => {
  const { name, cause, options, request, timings } = error
  if (name !== 'RequestError') return error
  if (cause instanceof TokenTimeout) {
    const { name: ownName, event, cause: reason } = cause
    const timeout =
      error instanceof RequestError
        ? new TimeoutError(cause as never, timings as never, request as never)
        : // of another copy of got, which shows nobody its class
          Object.assign(error, { name: ownName, event, timings })
    return withCause(timeout, reason)
  }
  return isTokenlaneError(cause) ? (asErrorOf(cause, { options, request, timings }) as Error) : error
}
