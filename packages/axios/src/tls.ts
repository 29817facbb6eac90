import { agentSettings, mustKeepFloor } from '@tokenlane/core/adapter'
import type { InternalAxiosRequestConfig } from 'axios'

/**
 * Throws for a call that would go below TLS 1.2. axios' adapter for Node takes its TLS options from an agent, or over HTTP/2
 * from `http2Options`; those of other adapters cannot be seen.
 */
export function mustBeSecure(
  { httpsAgent, httpVersion, http2Options }: InternalAxiosRequestConfig,
  { url, isFetch }: { url: string; isFetch: boolean },
): void {
  if (isFetch) return mustKeepFloor(url)
  const isHttp2 = Number(httpVersion) === 2
  mustKeepFloor(url, isHttp2 ? { http2Options } : agentSettings(httpsAgent, 'httpsAgent'))
}
