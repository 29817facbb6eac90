import { checkCallOptions, isReplayable, type Exchange, type TokenManager } from '@tokenlane/core/adapter'
import axios, { type AxiosAdapter, type AxiosResponse, type InternalAxiosRequestConfig } from 'axios'

import { createAttempt, type Lane } from './attempt.ts'
import { discard } from './discard.ts'
import { targetOf, urlOf } from './target.ts'
import { mustBeSecure } from './tls.ts'
import { waitSignal } from './wait-signal.ts'

export const managedBy: unique symbol = Symbol.for('tokenlane.managed') as never

type Adapters = InternalAxiosRequestConfig['adapter']

type Outcome = { readonly response: AxiosResponse } | { readonly error: unknown }

/** Whether calls of this adapter get their tokens from this manager already, as on a repeated call. */
export function isManaged(adapter: Adapters, tokens: TokenManager): boolean {
  return typeof adapter === 'function' && (adapter as { [managedBy]?: unknown })[managedBy] === tokens
}

/** The adapter that a call would have had, with the manager's tokens. */
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
    const lane = { api, tokens, target, viaFetch }
    const stopped = waitSignal(config)
    try {
      const outcome = await api.send(
        (authorization) => exchange(adapter, config, { ...lane, authorization }),
        {
          client: 'axios',
          method: config.method?.toUpperCase() ?? 'GET',
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
  return Object.defineProperty(managed, managedBy, { value: tokens })
}

function hasOwnCredentials({ headers, auth }: InternalAxiosRequestConfig): boolean {
  return Boolean(auth) || headers.has('Authorization')
}

/** Node's, which is the same for all calls; `undefined` in other runtimes. */
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

/** One HTTP exchange. A status that axios makes an error of is an answer like any other. */
async function exchange(
  adapter: AxiosAdapter,
  config: InternalAxiosRequestConfig,
  lane: Lane,
): Promise<Exchange<Outcome>> {
  const attempt = createAttempt(config, lane)
  const outcome: Outcome = await adapter(attempt.config).then(
    (response) => ({ response: attempt.clean(response) }),
    (error: unknown) => ({ error: attempt.clean(error) }),
  )
  const answer = 'error' in outcome ? responseOf(outcome.error) : outcome.response
  if (answer === undefined && 'error' in outcome) throw outcome.error
  // an adapter that answers with nothing is a TypeError, as with axios alone
  const response = answer as AxiosResponse
  return {
    // where the token did not go, the answer tells nothing of it
    status: attempt.lastAnswerToToken() ?? response.status,
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
