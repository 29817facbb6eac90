import { asErrorOf, isTokenlaneError, withCause } from '@tokenlane/core/adapter'
import type { BeforeErrorHook, Request, RequestError, TimeoutError } from 'got'

const events = process.getBuiltinModule('node:events')

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
  if (cause instanceof TokenTimeout && request !== undefined) return timeoutError(cause, request, timings)
  return isTokenlaneError(cause) ? (asErrorOf(cause, { options, request, timings }) as Error) : error
}

/** Returns the error with which got ends a call at its timeout, made by the caller's copy of got. */
async function timeoutError(
  cause: TokenTimeout,
  request: Request,
  timings: RequestError['timings'],
): Promise<Error> {
  // got shows its classes on no instance, but on the error of a request that ends before anything is sent
  const Class = Object.getPrototypeOf(request).constructor as typeof Request
  const aborted = new Class('http://localhost/', { signal: AbortSignal.abort(cause) })
  void aborted.flush()
  const [{ constructor: Timeout }] = (await events.once(aborted, 'error')) as [TimeoutError]
  return withCause(
    new (Timeout as typeof TimeoutError)(cause as never, timings as never, request),
    cause.cause,
  )
}
