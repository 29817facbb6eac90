import { checkCallOptions, isReplayable, markManaged, type TokenManager } from '@tokenlane/core/adapter'
import axios, { type AxiosAdapter, type InternalAxiosRequestConfig } from 'axios'

import { attempt } from './attempt.ts'
import { targetOf, urlOf } from './target.ts'
import { mustBeSecure } from './tls.ts'
import { viaOf } from './via.ts'
import { waitSignal } from './wait-signal.ts'
import { isWholeBodyNeeded, withWholeBody } from './whole-body.ts'

/** Returns the adapter that a call would have had, with the manager's tokens. */
export function managedAdapter(
  adapters: InternalAxiosRequestConfig['adapter'],
  tokens: TokenManager,
): AxiosAdapter {
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
    const method = config.method?.toUpperCase() ?? 'GET'
    const context = { adapter, api, tokens, method, target, via }
    const { signal, release } = waitSignal(config)
    const replayable = isReplayable(config.data)
    const call = { client: 'axios', method, signal, priority, resend, replayable }
    try {
      const outcome = await api.send((authorization) => attempt(config, authorization, context), call)
      if ('error' in outcome) throw outcome.error
      return outcome.response
    } finally {
      release()
    }
  }
  return markManaged(managed, tokens)
}

function hasOwnCredentials({ headers, auth }: InternalAxiosRequestConfig): boolean {
  return Boolean(auth) || headers.has('Authorization')
}
