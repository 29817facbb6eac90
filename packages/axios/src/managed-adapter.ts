import { checkCallOptions, isReplayable, type Exchange, type TokenManager } from '@tokenlane/core'
import axios, {
  type AxiosAdapter,
  type AxiosInstance,
  type AxiosResponse,
  type InternalAxiosRequestConfig,
} from 'axios'

import { createAttempt, type Lane, type Target } from './attempt.ts'
import { discard } from './discard.ts'
import { waitSignal } from './wait-signal.ts'

export const managedBy: unique symbol = Symbol.for('tokenlane.managed') as never

type Adapters = InternalAxiosRequestConfig['adapter']

type Outcome = { readonly response: AxiosResponse } | { readonly error: unknown }

/** Whether calls of this adapter get their tokens from this manager already, as on a repeated call. */
export function isManaged(adapter: Adapters, tokens: TokenManager): boolean {
  return typeof adapter === 'function' && (adapter as { [managedBy]?: unknown })[managedBy] === tokens
}

/** The adapter that a call would have had, with the manager's tokens. */
export function managedAdapter(
  adapters: Adapters,
  instance: Pick<AxiosInstance, 'getUri'>,
  tokens: TokenManager,
): AxiosAdapter {
  const managed: AxiosAdapter = async (config) => {
    const adapter = axios.getAdapter(adapters ?? axios.defaults.adapter, config)
    const target = targetOf(config)
    const uri = instance.getUri(target)
    const getsToken = !hasOwnCredentials(config) && !isAmbiguous(uri, config)
    const api = getsToken ? tokens.route(uri) : undefined
    if (api === undefined) return adapter(config)

    const { priority } = checkCallOptions(config.tokenlane)
    const stopped = waitSignal(config)
    try {
      const outcome = await api.send(
        (authorization) => exchange(adapter, config, { authorization, api, tokens, target }),
        { signal: stopped.signal, priority, replayable: isReplayable(config.data) },
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

/**
 * Where an adapter sends a call: to what its config says, while `getUri` falls back to the instance's defaults.
 * Kept, since others hold the config and its URL object too, and the call may wait.
 */
function targetOf({ url, baseURL = '', allowAbsoluteUrls = true }: InternalAxiosRequestConfig): Target {
  // axios takes a URL object too, whatever its types say
  const given: unknown = url ?? ''
  return { url: String(given), baseURL, allowAbsoluteUrls }
}

/**
 * White space after a path is taken off by the URL parser, but not by an adapter that puts the query behind it
 * first: nobody can tell which path gets the call, and so whose token.
 */
function isAmbiguous(uri: string, { params }: InternalAxiosRequestConfig): boolean {
  const last = uri.at(-1)
  return Boolean(params) && last !== undefined && last <= ' '
}

/** One HTTP exchange. A status that axios makes an error of is an answer like any other. */
async function exchange(
  adapter: AxiosAdapter,
  config: InternalAxiosRequestConfig,
  lane: Lane,
): Promise<Exchange<Outcome>> {
  const attempt = createAttempt(config, adapter, lane)
  const outcome: Outcome = await adapter(attempt.config).then(
    (response) => ({ response: attempt.clean(response) }),
    (error: unknown) => ({ error: attempt.clean(error) }),
  )
  const response = 'response' in outcome ? outcome.response : responseOf(outcome.error)
  if (response === undefined) throw (outcome as { error: unknown }).error
  return {
    // where the token did not go, the answer tells nothing of it
    status: attempt.lastAnswerToToken() ?? response.status,
    retryAfter: field(response, 'retry-after'),
    wwwAuthenticate: field(response, 'www-authenticate'),
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
