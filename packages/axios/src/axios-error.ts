import { asErrorOf, isTokenlaneError } from '@tokenlane/core/adapter'
import type { InternalAxiosRequestConfig } from 'axios'

import { copyOf } from './copy-of.ts'
import { targetOf } from './target.ts'

/** The options with which a call asks axios-retry and retry-axios for no retry: Tokenlane has retried already. */
const noRetries = { 'axios-retry': { retries: 0 }, raxConfig: { retry: 0, noResponseRetries: 0 } }

export function asAxiosError(error: unknown, given: InternalAxiosRequestConfig): unknown {
  if (!isTokenlaneError(error)) return error
  const { url, baseURL } = targetOf(given)
  const printed = { name: error.name, stack: error.stack, ...error.toJSON() }
  const place = { method: given.method, baseURL, url: url.replace(/[?#].*/s, '') }
  return asErrorOf(error, {
    config: copyOf(given, noRetries),
    isAxiosError: true,
    toJSON: () => ({ ...printed, config: place }),
  })
}
