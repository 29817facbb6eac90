// How a call goes through here. ky's `timeout` runs while its `fetch` does, and time in a queue or at the issuer must not
// count in it: so the call waits in a hook, `beforeRequest` or before ky's own retries `beforeRetry`, where ky's clock
// stands still, and leaves the hook with a pass, or with none where there was nothing to wait for. It uses the pass in
// ky's `fetch` option, which alone sends the token, so that no hook, error or response of ky shows it; a second try after
// a 401 happens in there too, as a part of ky's one attempt. Between hook and `fetch` another hook may answer or end the
// call without a word: a timer gives back the passes of such calls (held-passes.ts). An `init` hook puts both on the
// options of each call, since hooks of the instance are older than the call and know nothing of its other hooks. All else
// is core's rule and `sendWithinApi`.
import {
  managerOf,
  markManaged,
  mustBeManager,
  refuseArgument,
  TokenlaneError,
  type CallOptions,
  type TokenManager,
} from '@tokenlane/core/adapter'
import type { BeforeRequestHook, BeforeRetryHook, Hooks, Options } from 'ky'

import { Call, type Attachment } from './call.ts'
import { HeldPasses } from './held-passes.ts'
import { prepareTimeout } from './timeout.ts'

declare module 'ky' {
  interface Options {
    /** How Tokenlane treats this call. */
    tokenlane?: CallOptions | undefined
  }
}

const purpose = 'make options for ky'

/**
 * Returns options that make ky 2 send a live token with each call to one of the manager's APIs. Every other call, and
 * one that has its own `Authorization` header, is sent unchanged. Extending again changes nothing.
 *
 * A call rejects as it would with ky alone, or with a TokenlaneError if no token can be obtained. After a
 * TokenlaneError, nothing more is sent.
 *
 * @throws TokenlaneError `INVALID_OPTIONS` at once for a wrong argument, and at each call for an older ky.
 * @example
 * ```ts
 * const client = ky.extend(kyTokens(tokens))
 * const record = await client.get('https://api.example.com/records/7').json()
 * ```
 */
export function kyTokens(tokens: TokenManager): { hooks: Hooks } {
  mustBeManager(tokens, purpose)
  const attached = { route: (url: string | URL) => tokens.route(url), passes: new HeldPasses() }
  const init = (options: Options, ...more: unknown[]): void => {
    // got gives its hook more, and would go on with wrong options
    if (more.length > 0) refuseArgument(purpose, 'client', 'ky; for got, use `gotTokens` of @tokenlane/got')
    manage(options, tokens, attached)
  }
  return { hooks: { init: [init], beforeRequest: [mustBeKy2] } }
}

/** ky 1 has no `init` hooks, and gives this hook the request where ky 2 gives a state. */
function mustBeKy2(state: object): void {
  if (state instanceof Request)
    throw new TokenlaneError(
      'INVALID_OPTIONS',
      'Cannot send call: this version of ky has no `init` hooks; @tokenlane/ky needs ky 2.0 or later (`npm install ky@2`), which runs on Node 22 or later',
    )
}

type Wait = BeforeRequestHook & BeforeRetryHook
type WaitState = Parameters<BeforeRequestHook>[0] | Parameters<BeforeRetryHook>[0]

/** Makes a call wait and be sent with a token. `options` are its own copy while its `init` hooks run. */
function manage(options: Options, tokens: TokenManager, attached: Attachment): void {
  const { hooks } = options
  const { beforeRetry = [], beforeError = [] } = hooks ?? {}
  const beforeRequest = hooks?.beforeRequest?.filter((hook) => hook !== mustBeKy2) ?? []
  if (beforeRequest.some((hook) => managerOf(hook) === tokens)) {
    options.hooks = { ...hooks, beforeRequest }
    return
  }

  const call = new Call(options, attached)
  // ky shares one options object between hooks, and a timeout aborts its `signal`: a returned request makes ky drop it
  const wait: Wait = (state: WaitState): Request | undefined | Promise<Request | undefined> => {
    const { request, retryCount } = state
    // another hook may have made another request, and ky sends copies in retries
    const isOfOptions = retryCount === 0 && options.hooks?.beforeRequest?.length === 1
    const waited = call.wait(request, isOfOptions ? state.options.body : undefined, retryCount === 0)
    // a returned request also makes ky skip the `beforeRetry` hooks that follow
    if (options.hooks?.beforeRetry?.at(-1) === wait) return waited
    return waited instanceof Promise ? waited.then(() => undefined) : undefined
  }
  markManaged(wait, tokens)
  prepareTimeout(options)
  options.fetch = (request, init) => call.send(request as Request, init)
  // last, after all that the caller's hooks change, and with nothing between waiting and sending
  options.hooks = {
    ...hooks,
    beforeRequest: [...beforeRequest, wait],
    beforeRetry: [...beforeRetry.map((hook) => waitingFor(hook, call)), wait],
    beforeError: [({ error }) => call.explain(error), ...beforeError],
  }
}

/** Makes a hook wait that returns a request, since it is the last one that ky runs. */
function waitingFor(hook: BeforeRetryHook, call: Call): BeforeRetryHook {
  return async (state) => {
    const result = await hook(state)
    return result instanceof Request ? call.wait(result) : result
  }
}
