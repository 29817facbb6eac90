import { withCause } from '@tokenlane/core/adapter'
import type { InternalAxiosRequestConfig } from 'axios'

import { errorClasses } from './error-classes.ts'
import type { NativeClient } from './native-client.ts'

/** Returns the timeout of a call in milliseconds, as axios reads it; `undefined` without one. */
export function timeoutOf({ timeout }: InternalAxiosRequestConfig): number | undefined {
  const ms = Number.parseInt(String(timeout), 10)
  return ms > 0 ? ms : undefined
}

/** Returns the error with which axios ends a call at its timeout, made by the caller's copy of axios. */
export async function timeoutError(
  native: NativeClient,
  config: InternalAxiosRequestConfig,
  cause: unknown,
): Promise<Error> {
  const { Class } = await errorClasses(native, config)
  const { timeout, timeoutErrorMessage, transitional } = config
  const message = timeoutErrorMessage || `timeout of ${timeout}ms exceeded`
  const code = transitional?.clarifyTimeoutError === true ? 'ETIMEDOUT' : 'ECONNABORTED'
  return withCause(new Class(message, code, config), cause)
}
