import { secureAgents, secureDispatchers, tlsFloor } from '@tokenlane/core/adapter'
import type { InternalAxiosRequestConfig } from 'axios'

type Config = InternalAxiosRequestConfig

/** What to add to the configuration of a call to an API, so that it is not sent below TLS 1.2. */
export type SecureConfig = (config: Config, to: { url: string; viaFetch: boolean }) => Partial<Config>

/**
 * Each way that axios has to an `https:` URL takes its TLS options elsewhere: an agent, a dispatcher, or
 * `http2Options`.
 */
export function secureConfigs(): SecureConfig {
  const agentFor = secureAgents('httpsAgent')
  const dispatcherFor = secureDispatchers()

  return (config, { url, viaFetch }) => {
    const { httpsAgent, fetchOptions, env } = config
    if (viaFetch) {
      const { dispatcher } = (fetchOptions ?? {}) as { readonly dispatcher?: unknown }
      const ownFetch = typeof env?.fetch === 'function'
      const added = dispatcherFor({ url, dispatcher, ownFetch })
      return added === undefined ? {} : { fetchOptions: { ...fetchOptions, dispatcher: added } }
    }
    if (Number(config.httpVersion) === 2) return secureHttp2(config, url)
    const added: unknown = agentFor(url, httpsAgent)
    return added === undefined ? {} : { httpsAgent: added }
  }
}

function secureHttp2({ http2Options }: Config, url: string): Partial<Config> {
  const minVersion = url.startsWith('https:') ? tlsFloor(http2Options, 'http2Options') : undefined
  return minVersion === undefined ? {} : { http2Options: { ...http2Options, minVersion } }
}
