import {
  managerOf,
  markManaged,
  mustBeManager,
  type CallOptions,
  type TokenManager,
} from '@tokenlane/core/adapter'
import type { BeforeRequestHook, BeforeRetryHook, Hooks, Options } from 'ky'

import { Call, type Manager } from './call.ts'
import { HeldPasses } from './held-passes.ts'

declare module 'ky' {
  interface Options {
    /** How Tokenlane treats this call. */
    readonly tokenlane?: CallOptions | undefined
  }
}

/**
 * Options for ky that send each call to one of the manager's APIs with a live token. Every other call, and one
 * that brings its own `Authorization` field, is sent as it is. Extending again changes nothing.
 *
 * A call rejects as it would with ky alone, or with a TokenlaneError if no token can be had: then nothing was
 * sent.
 *
 * @throws TokenlaneError `INVALID_OPTIONS` at once for a wrong argument.
 * @example
 * ```ts
 * const client = ky.extend(kyTokens(tokens))
 * const record = await client.get('https://api.example.com/records/7').json()
 * ```
 */
export function kyTokens(tokens: TokenManager): { hooks: Hooks } {
  mustBeManager(tokens, 'make options for ky')
  const manager = { tokens, passes: new HeldPasses() }
  return { hooks: { init: [(options) => manage(options, manager)] } }
}

type Wait = BeforeRequestHook & BeforeRetryHook
type WaitState = Parameters<BeforeRequestHook>[0] | Parameters<BeforeRetryHook>[0]

/** Puts a call's options under management, which are its own copy while its `init` hooks run. */
function manage(options: Options, manager: Manager): void {
  const { tokens } = manager
  const { hooks } = options
  const { beforeRequest = [], beforeRetry = [] } = hooks ?? {}
  if (beforeRequest.some((hook) => managerOf(hook) === tokens)) return

  const call = new Call(options, manager)
  // a request that a hook returns makes ky forget the options that it keeps for hooks, whose `signal` a timeout ends
  const wait: Wait = (state: WaitState): Promise<Request | undefined> => {
    const { request, retryCount } = state
    // another hook may have made another request, and ky sends copies in retries
    const isOfOptions = retryCount === 0 && options.hooks?.beforeRequest?.length === 1
    const waited = call.wait(request, isOfOptions ? state.options.body : undefined)
    // after it, ky runs no other `beforeRetry` hook
    return options.hooks?.beforeRetry?.at(-1) === wait ? waited : waited.then(() => undefined)
  }
  markManaged(wait, tokens)
  options.fetch = (request, init) => call.send(request as Request, init)
  // last, so that what the caller's hooks change is known, and that nothing comes between waiting and sending
  options.hooks = {
    ...hooks,
    beforeRequest: [...beforeRequest, wait],
    beforeRetry: [...beforeRetry.map((hook) => waitingFor(hook, call)), wait],
  }
}

/** A hook that returns a request is the last one that ky runs. */
function waitingFor(hook: BeforeRetryHook, call: Call): BeforeRetryHook {
  return async (state) => {
    const result = await hook(state)
    return result instanceof Request ? call.wait(result) : result
  }
}
