import {
  checkCallOptions,
  isReplayable,
  markManaged,
  watchBody,
  type Api,
  type TokenlaneError,
  type TokenManager,
} from '@tokenlane/core/adapter'
import type { AxiosAdapter, AxiosError, AxiosResponse, InternalAxiosRequestConfig } from 'axios'

import { attempt } from './attempt.ts'
import { asAxiosError } from './axios-error.ts'
import { bodyError } from './body-error.ts'
import { copyOf } from './copy-of.ts'
import { formsOf } from './form.ts'
import { nativeClientOf, type NativeClient } from './native-client.ts'
import { targetOf, urlOf } from './target.ts'
import { mustBeSecure } from './tls.ts'
import { timeoutError, timeoutOf } from './timeout-error.ts'
import { waitSignal } from './wait-signal.ts'
import { isWholeBodyNeeded, withWholeBody } from './whole-body.ts'

type Config = InternalAxiosRequestConfig

/** Returns the adapter that a call of the instance would have had, with the manager's tokens. */
export function managedAdapter(
  instance: object,
  adapter: Config['adapter'],
  tokens: TokenManager,
): AxiosAdapter {
  const native = (): NativeClient => nativeClientOf(instance)
  const send = (config: Config): Promise<AxiosResponse> =>
    typeof adapter === 'function' ? adapter(config) : native().send(config, adapter)
  // the first of them that Node has
  const [name, next] = Array.isArray(adapter) ? adapter : [adapter]
  const isFetch = (name === 'xhr' ? next : name) === 'fetch'

  /** Sends a call that is not ours to change: axios' own adapters get a copy, whose place the given config takes again. */
  async function sendBare(config: Config): Promise<AxiosResponse> {
    if (typeof adapter === 'function') return adapter(config)
    try {
      return Object.assign(await send(copyOf(config)), { config })
    } catch (error) {
      const failed = error as Partial<AxiosError>
      // an error of Node's URL parser has none
      if (failed.config !== undefined) failed.config = config
      if (failed.response !== undefined) failed.response.config = config
      throw error
    }
  }

  async function managed(given: Config): Promise<AxiosResponse> {
    const config = isWholeBodyNeeded ? await withWholeBody(given) : given
    const target = targetOf(config)
    const url = urlOf(target, config, native)
    const api = url === undefined ? undefined : tokens.route(url)
    if (api === undefined) return sendBare(config)
    if (hasOwnCredentials(config)) return noting(api, sendBare(config))

    const method = config.method?.toUpperCase() ?? 'GET'
    const isHttps = api.baseUrl.startsWith('https:')
    const { headers } = config
    const waiting = waitSignal(config)
    const body = watchBody(config.data, waiting.signal)
    const forms = formsOf(config.data)
    const replayable = forms !== undefined || isReplayable(config.data)
    const call = { client: 'axios', method, url, signal: body.signal, replayable }
    const acted = (): void => void (call.replayable = false)
    const context = { send, api, tokens, method, acted, target, headers, forms, isFetch, isHttps }
    let timedOut: TokenlaneError | undefined
    const ms = timeoutOf(config)
    const tokenWait =
      ms === undefined ? undefined : { ms, error: (cause: TokenlaneError) => (timedOut = cause) }
    try {
      const asked = checkCallOptions(config.tokenlane)
      mustBeSecure(config, { url: api.baseUrl, isFetch })
      const outcome = await api.send(
        (authorization, judge) => {
          body.release()
          return attempt(config, authorization, judge, context)
        },
        Object.assign(call, asked, { tokenWait }),
      )
      if ('error' in outcome) throw outcome.error
      return outcome.response
    } catch (error) {
      if (timedOut !== undefined && config.signal?.aborted !== true)
        throw await timeoutError(native(), config, timedOut)
      if (body.death === undefined) throw asAxiosError(error, given)
      throw await bodyError(native(), config, { ...body.death, isFetch })
    } finally {
      body.abandon()
      waiting.release()
    }
  }

  return markManaged(managed, tokens)
}

/** Reports the status of a call that brings its own credentials. */
function noting(api: Api, call: Promise<AxiosResponse>): Promise<AxiosResponse> {
  const note = (response?: { readonly status: number }): void => api.kept(response?.status ?? 0)
  call.then(note, (error?: Partial<AxiosError>) => note(error?.response))
  return call
}

function hasOwnCredentials({ headers, auth }: Config): boolean {
  // an empty one, as generated clients set it, is none, nor is null
  return Boolean(auth) || String(headers.get('Authorization') ?? '').trim() !== ''
}
