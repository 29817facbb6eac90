import { isTokenlaneError } from '@tokenlane/core/adapter'
import type { BeforeErrorHook } from 'got'

/** Unwraps an error of Tokenlane, which got puts into a RequestError. */
export const ownError: BeforeErrorHook = (error) => {
  const { name, cause } = error
  return name === 'RequestError' && isTokenlaneError(cause) ? cause : error
}
