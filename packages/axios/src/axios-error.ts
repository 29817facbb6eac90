import type { TokenlaneError } from '@tokenlane/core/adapter'
import type { InternalAxiosRequestConfig } from 'axios'

import { copyOf } from './copy-of.ts'

/** The options with which a call asks axios-retry and retry-axios for no retry: Tokenlane has retried already. */
const noRetries = { 'axios-retry': { retries: 0 }, raxConfig: { retry: 0, noResponseRetries: 0 } }

/**
 * Adds what interceptors and plug-ins read of every error of axios. It is not printed: a config has the caller's body and
 * headers.
 */
export function asAxiosError(error: TokenlaneError, given: InternalAxiosRequestConfig): TokenlaneError {
  const config = Object.assign(copyOf(given), noRetries)
  const { method, baseURL } = given
  const toJSON = (): object => ({
    name: error.name,
    stack: error.stack,
    ...(Object.getPrototypeOf(error) as TokenlaneError).toJSON.call(error),
    config: { method, baseURL, url: String(given.url ?? '').replace(/[?#].*/s, '') },
  })
  for (const [name, value] of Object.entries({ config, toJSON, isAxiosError: true }))
    Object.defineProperty(error, name, { value, writable: true, configurable: true })
  return error
}
