import { TokenlaneError, type TokenManager } from '@tokenlane/core/adapter'
import type { AxiosInstance, InternalAxiosRequestConfig } from 'axios'

import type { RequestOption } from './request-option.cts'
import { isManaged, managedAdapter, managedBy } from './managed-adapter.ts'

declare module 'axios' {
  interface AxiosRequestConfig<D> extends RequestOption {}
}

/** What is needed of an axios instance; ESM and CommonJS types of axios both fit. */
export type AxiosLike = Pick<AxiosInstance, 'interceptors' | 'getUri'>

/**
 * Makes an axios instance send each call to one of the manager's APIs with a live token. Every other call, and
 * one that brings its own `Authorization` field or `auth`, is sent as it is. Attaching again changes nothing.
 *
 * A call rejects as it would with axios alone, or with a TokenlaneError if no token can be had: then nothing was
 * sent.
 *
 * @returns a function that takes the tokens off the instance again.
 * @throws TokenlaneError `INVALID_OPTIONS` at once for a wrong argument.
 * @example
 * ```ts
 * const client = axios.create({ baseURL: 'https://api.example.com/' })
 * attachTokens(client, tokens)
 * ```
 */
export function attachTokens(instance: AxiosLike, tokens: TokenManager): () => void {
  if (typeof instance?.interceptors?.request?.use !== 'function' || typeof instance.getUri !== 'function')
    refuse('instance', 'an axios instance')
  if (typeof tokens?.route !== 'function') refuse('tokens', 'what `createTokenManager` returns')

  const attached = attachmentsOf(instance)
  const before = attached.get(tokens)
  if (before !== undefined) return before

  const manage = (config: InternalAxiosRequestConfig): InternalAxiosRequestConfig => {
    if (!isManaged(config.adapter, tokens)) config.adapter = managedAdapter(config.adapter, tokens)
    return config
  }
  // otherwise axios would not start a call in the turn that it is made in
  const id = instance.interceptors.request.use(manage, undefined, { synchronous: true })
  const detach = (): void => {
    if (attached.get(tokens) !== detach) return
    attached.delete(tokens)
    instance.interceptors.request.eject(id)
  }
  attached.set(tokens, detach)
  return detach
}

/** What is attached to an instance is kept on it, so that every copy of this package sees it. */
function attachmentsOf(instance: AxiosLike): Map<TokenManager, () => void> {
  const holder = instance as { [managedBy]?: Map<TokenManager, () => void> }
  const known = holder[managedBy]
  if (known !== undefined) return known
  const attached = new Map<TokenManager, () => void>()
  Object.defineProperty(holder, managedBy, { value: attached })
  return attached
}

function refuse(name: string, allowed: string): never {
  throw new TokenlaneError(
    'INVALID_OPTIONS',
    `Cannot attach tokens: \`${name}\` is wrong; allowed: ${allowed}`,
  )
}
