import { isTokenlaneError } from '@tokenlane/core/adapter'
import type { BeforeErrorHook } from 'got'

/** A failure of ours as it is, not in got's wrapping. */
export const ownError: BeforeErrorHook = (error) => {
  const { name, cause } = error
  return name === 'RequestError' && isTokenlaneError(cause) ? cause : error
}
