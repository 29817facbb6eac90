import {
  managerOf,
  markManaged,
  mustBeManager,
  refuseArgument,
  type TokenManager,
} from '@tokenlane/core/adapter'
import type { AxiosInstance, InternalAxiosRequestConfig } from 'axios'

import type { RequestOption } from './request-option.cts'
import { managedAdapter } from './managed-adapter.ts'
import { mustBeNewEnough, purpose } from './version.ts'

declare module 'axios' {
  interface AxiosRequestConfig<D> extends RequestOption {}
}

/** Takes the tokens off the instance again. */
type Attachment = () => void

/** The part of an axios instance that Tokenlane uses. axios' ESM types and its CommonJS types both fit. */
export type AxiosLike = Pick<AxiosInstance, 'interceptors' | 'getUri'>

/**
 * Makes an axios instance send a live token with each call to one of the manager's APIs. Every other call, and one that
 * has its own `Authorization` header or `auth`, is sent unchanged. Attaching again changes nothing.
 *
 * A call rejects as it would with axios alone, or with a TokenlaneError if no token can be obtained. After a
 * TokenlaneError, nothing more is sent.
 *
 * @returns a function that detaches the tokens from the instance.
 * @throws TokenlaneError `INVALID_OPTIONS` at once for a wrong argument, and for axios before 1.7.
 * @example
 * ```ts
 * const client = axios.create({ baseURL: 'https://api.example.com/' })
 * attachTokens(client, tokens)
 * ```
 */
export function attachTokens(instance: AxiosLike, tokens: TokenManager): Attachment {
  if (typeof instance?.interceptors?.request?.use !== 'function' || typeof instance.getUri !== 'function')
    refuseArgument(purpose, 'instance', 'an axios instance, as in attachTokens(axios, tokens)')
  mustBeNewEnough(instance)
  mustBeManager(tokens, purpose)

  const attached = attachmentsOf(instance)
  const before = attached.get(tokens)
  if (before !== undefined) return before

  const manage = (config: InternalAxiosRequestConfig): InternalAxiosRequestConfig => {
    // as when axios-retry sends a call again
    if (managerOf(config.adapter) !== tokens)
      config.adapter = managedAdapter(instance, config.adapter, tokens)
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

/**
 * Returns what is attached to an instance, by manager: an instance may serve several. Kept on the instance, so that
 * every copy of this package sees it.
 */
function attachmentsOf(instance: AxiosLike): Map<TokenManager, Attachment> {
  const before = managerOf(instance)
  if (before !== undefined) return before as Map<TokenManager, Attachment>
  const attachments = new Map<TokenManager, Attachment>()
  markManaged(instance, attachments)
  return attachments
}
