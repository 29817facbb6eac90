import { agentMustKeepFloor, dispatcherMustKeepFloor, settingsMustKeepFloor } from '@tokenlane/core/adapter'
import type { InternalAxiosRequestConfig } from 'axios'

import type { Via } from './via.ts'

/**
 * Throws for a call that would go below TLS 1.2. Each way that axios has to an `https:` URL takes its TLS options
 * elsewhere: an agent, a dispatcher, or `http2Options`.
 */
export function mustBeSecure(
  config: InternalAxiosRequestConfig,
  { url, via }: { url: string; via: Via },
): void {
  if (!url.startsWith('https:')) return
  const { httpsAgent, httpVersion, http2Options, fetchOptions, env } = config
  if (via === 'fetch') {
    const { dispatcher } = (fetchOptions ?? {}) as { readonly dispatcher?: unknown }
    dispatcherMustKeepFloor({ url, dispatcher, ownFetch: typeof env?.fetch === 'function' })
  } else if (Number(httpVersion) !== 2) agentMustKeepFloor(url, httpsAgent, 'httpsAgent')
  else settingsMustKeepFloor(http2Options, 'http2Options')
}
