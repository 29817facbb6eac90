import {
  checkCallOptions,
  hasAuthorization,
  hideAgent,
  isReplayable,
  managerOf,
  markManaged,
  type TokenManager,
} from '@tokenlane/core/adapter'
import axios, { type AxiosAdapter, type InternalAxiosRequestConfig } from 'axios'

import { Attempt } from './attempt.ts'
import { targetOf, urlOf } from './target.ts'
import { mustBeSecure } from './tls.ts'
import { viaOf } from './via.ts'
import { waitSignal } from './wait-signal.ts'
import { isWholeBodyNeeded, withWholeBody } from './whole-body.ts'

type Adapters = InternalAxiosRequestConfig['adapter']

/** Returns whether calls of this adapter get this manager's tokens already, as when axios-retry sends one again. */
export function isManaged(adapter: Adapters, tokens: TokenManager): boolean {
  return typeof adapter === 'function' && managerOf(adapter) === tokens
}

/**
 * Returns a function that returns the adapter that a call would have had, with the manager's tokens. It returns the last
 * one again for the same adapters, since axios makes a new array of their names for each call.
 */
export function managedAdapters(tokens: TokenManager): (adapters: Adapters) => AxiosAdapter {
  let last: { readonly adapters: Adapters; readonly managed: AxiosAdapter } | undefined
  return (adapters) => {
    if (last === undefined || !isSame(last.adapters, adapters)) {
      // the caller may change the array
      const kept = Array.isArray(adapters) ? [...adapters] : adapters
      last = { adapters: kept, managed: managedAdapter(kept, tokens) }
    }
    return last.managed
  }
}

function isSame(a: Adapters, b: Adapters): boolean {
  if (!Array.isArray(a) || !Array.isArray(b)) return a === b
  return a.length === b.length && a.every((adapter, index) => adapter === b[index])
}

function managedAdapter(adapters: Adapters, tokens: TokenManager): AxiosAdapter {
  const managed: AxiosAdapter = async (given) => {
    const config = isWholeBodyNeeded ? await withWholeBody(given) : given
    const adapter = axios.getAdapter(adapters ?? axios.defaults.adapter, config)
    const target = targetOf(config)
    const url = hasOwnCredentials(config) ? undefined : urlOf(target, config)
    const api = url === undefined ? undefined : tokens.route(url)
    if (api === undefined) return adapter(config)

    const { priority, resend } = checkCallOptions(config.tokenlane)
    const via = viaOf(adapter, config)
    mustBeSecure(config, { url: api.baseUrl, via })
    // axios prints a configuration with its agents
    hideAgent(config.httpAgent)
    hideAgent(config.httpsAgent)
    const method = config.method?.toUpperCase() ?? 'GET'
    const context = { api, tokens, method, target, via }
    const stopped = waitSignal(config)
    try {
      const outcome = await api.send(
        (authorization) => {
          const attempt = new Attempt(config, authorization, context)
          return adapter(attempt.config).then(attempt.received, attempt.failed)
        },
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
  if (auth) return true
  // `has` alone makes text of every name for each call, which takes 0.7 µs; it leaves out what is undefined
  return hasAuthorization(headers) && headers.has('Authorization')
}
