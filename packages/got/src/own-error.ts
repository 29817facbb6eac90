import { asErrorOf, isTokenlaneError } from '@tokenlane/core/adapter'
import type { BeforeErrorHook } from 'got'

/** Unwraps an error of Tokenlane, which got puts into a RequestError, and leaves it what every error of got has. */
export const ownError: BeforeErrorHook = (error) => {
  const { name, cause, options, request, timings } = error
  if (name !== 'RequestError' || !isTokenlaneError(cause)) return error
  return asErrorOf(cause, { options, request, timings }) as Error
}
