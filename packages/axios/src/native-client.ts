import { refuseArgument } from '@tokenlane/core/adapter'
import type { AxiosResponse, InternalAxiosRequestConfig } from 'axios'

import { purpose } from './version.ts'

type Config = InternalAxiosRequestConfig

/** The part of axios that sends what it is given, taken from the caller's own copy of axios: nothing here imports another. */
export interface NativeClient {
  /** Sends with one of axios' own adapters. No interceptor runs, and no data is transformed. */
  send(config: Config, adapter: Config['adapter']): Promise<AxiosResponse>
  getUri(config: object): string
}

interface Instance {
  readonly defaults: Record<string, unknown>
  readonly interceptors: Record<'request' | 'response', { clear(): void }> & {
    readonly request: { use(onFulfilled: () => Config, ...more: unknown[]): number }
  }
  request(config: object): Promise<AxiosResponse>
  getUri(config: object): string
  create?(): Instance
}

const clients = new WeakMap<object, NativeClient>()
const noTransforms = { transformRequest: [], transformResponse: [] }

/** @throws TokenlaneError `INVALID_OPTIONS` for what axios did not make. */
export function nativeClientOf(instance: object): NativeClient {
  let client = clients.get(instance)
  if (client === undefined) {
    client = nativeClient(emptied(another(instance as Instance)))
    clients.set(instance, client)
  }
  return client
}

function nativeClient(axios: Instance): NativeClient {
  let next: Config
  axios.interceptors.request.use(() => next, undefined, { synchronous: true })
  return {
    send(config, adapter) {
      // taken by the interceptor before `request` returns, so that axios merges nothing
      next = Object.assign(config, noTransforms, { adapter }) as Config
      return axios.request({})
    },
    getUri: (config) => axios.getUri(config),
  }
}

/** Returns one more instance of the same copy of axios: what `create` makes, or an instance of the same class. */
function another(instance: Instance): Instance {
  const Class = instance.constructor as new (defaults: object) => Partial<Instance>
  const made = typeof instance.create === 'function' ? instance.create() : new Class({})
  // a mock may return itself
  if (made === instance || typeof made.request !== 'function')
    refuseArgument(purpose, 'instance', 'what `axios.create()` returns')
  return made as Instance
}

/** Calls have their defaults already, and a replaced `create` may have added interceptors, these tokens too. */
function emptied(axios: Instance): Instance {
  for (const name of Object.keys(axios.defaults)) delete axios.defaults[name]
  axios.interceptors.request.clear()
  axios.interceptors.response.clear()
  return axios
}
