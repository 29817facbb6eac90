import {
  checkCallOptions,
  hideAgent,
  isReplayable,
  managerOf,
  markManaged,
  type Exchange,
  type TokenManager,
} from '@tokenlane/core/adapter'
import axios, { type AxiosAdapter, type AxiosResponse, type InternalAxiosRequestConfig } from 'axios'

import { createAttempt, type AttemptContext } from './attempt.ts'
import { discard } from './discard.ts'
import { targetOf, urlOf } from './target.ts'
import { mustBeSecure } from './tls.ts'
import { waitSignal } from './wait-signal.ts'

type Adapters = InternalAxiosRequestConfig['adapter']

type Outcome = { readonly response: AxiosResponse } | { readonly error: unknown }

/** Returns whether calls of this adapter get this manager's tokens already, as when axios-retry sends one again. */
export function isManaged(adapter: Adapters, tokens: TokenManager): boolean {
  return typeof adapter === 'function' && managerOf(adapter) === tokens
}

/** Returns the adapter that a call would have had, with the manager's tokens. */
export function managedAdapter(adapters: Adapters, tokens: TokenManager): AxiosAdapter {
  const managed: AxiosAdapter = async (config) => {
    const adapter = axios.getAdapter(adapters ?? axios.defaults.adapter, config)
    const target = targetOf(config)
    const url = hasOwnCredentials(config) ? undefined : urlOf(target, config)
    const api = url === undefined ? undefined : tokens.route(url)
    if (api === undefined) return adapter(config)

    const { priority, resend } = checkCallOptions(config.tokenlane)
    const viaFetch = isFetchAdapter(adapter, config)
    mustBeSecure(config, { url: api.baseUrl, viaFetch })
    // axios prints a configuration with its agents
    hideAgent(config.httpAgent)
    hideAgent(config.httpsAgent)
    const method = config.method?.toUpperCase() ?? 'GET'
    const context = { api, tokens, method, target, viaFetch }
    const stopped = waitSignal(config)
    try {
      const outcome = await api.send(
        (authorization) => exchange(adapter, config, { ...context, authorization }),
        {
          client: 'axios',
          method,
          signal: stopped.signal,
          priority,
          resend,
          replayable: isReplayable(config.data),
        },
      )
      if ('error' in outcome) throw outcome.error
      return outcome.response
    } finally {
      stopped.release()
    }
  }
  return markManaged(managed, tokens)
}

function hasOwnCredentials({ headers, auth }: InternalAxiosRequestConfig): boolean {
  return Boolean(auth) || headers.has('Authorization')
}

/** Node's adapter, which is the same for all calls; `undefined` in other runtimes. */
const httpAdapter = adapterOf('http', {} as InternalAxiosRequestConfig)

function isFetchAdapter(adapter: AxiosAdapter, config: InternalAxiosRequestConfig): boolean {
  return adapter !== httpAdapter && adapter === adapterOf('fetch', config)
}

function adapterOf(name: 'fetch' | 'http', config: InternalAxiosRequestConfig): AxiosAdapter | undefined {
  try {
    return axios.getAdapter(name, config)
  } catch {
    // this runtime has none
    return undefined
  }
}

/** Makes one HTTP exchange. A status that axios makes an error of is a response like any other. */
async function exchange(
  adapter: AxiosAdapter,
  config: InternalAxiosRequestConfig,
  context: AttemptContext,
): Promise<Exchange<Outcome>> {
  const attempt = createAttempt(config, context)
  const outcome: Outcome = await adapter(attempt.config).then(
    (response) => ({ response: attempt.clean(response) }),
    (error: unknown) => ({ error: attempt.clean(error) }),
  )
  const received = 'error' in outcome ? responseOf(outcome.error) : outcome.response
  if (received === undefined && 'error' in outcome) throw outcome.error
  // an adapter that returns nothing is a TypeError, as with axios alone
  const response = received as AxiosResponse
  return {
    status: attempt.judgedBy() ?? response.status,
    retryAfter: field(response, 'retry-after'),
    wwwAuthenticate: field(response, 'www-authenticate'),
    header: (name) => field(response, name),
    result: outcome,
    discard: () => discard(response),
  }
}

function responseOf(error: unknown): AxiosResponse | undefined {
  return (error as { response?: AxiosResponse } | undefined)?.response
}

function field({ headers }: AxiosResponse, name: string): string | undefined {
  const value: unknown = headers?.[name]
  return Array.isArray(value) ? value.join(', ') : typeof value === 'string' ? value : undefined
}
