import { isTokenlaneError } from '../errors.ts'

/**
 * Gives an error of Tokenlane what hooks and plug-ins read of every error of a client, such as the call's options. It is not
 * printed, since the caller's options may have secrets. Any other error is the client's own, and returned as it is.
 */
export function asErrorOf(error: unknown, members: Readonly<Record<string, unknown>>): unknown {
  if (!isTokenlaneError(error)) return error
  for (const [name, value] of Object.entries(members))
    Object.defineProperty(error, name, { value, writable: true, configurable: true })
  return error
}

/** Sets the `cause` of a client's error as `new Error()` would. */
export function withCause<T extends Error>(error: T, cause: unknown): T {
  return Object.defineProperty(error, 'cause', { value: cause, writable: true, configurable: true })
}
