import { mustBeManager, refuseArgument, type TokenManager } from '@tokenlane/core/adapter'
import type { HandlerFunction, Request } from 'got'

import { Call } from './call.ts'

const { errorMonitor } = process.getBuiltinModule('node:events')
const purpose = 'create got tokens'

/** Options for `got.extend`. */
export interface GotTokens {
  readonly handlers: HandlerFunction[]
}

/**
 * Returns options that make a got instance send a live token with each call to one of the manager's APIs. Every other
 * call, and one that has its own `Authorization` header or `username`, is sent unchanged. Extending again changes nothing.
 *
 * A call rejects as it would with got alone, or with a TokenlaneError if no token can be obtained. After a
 * TokenlaneError, nothing more is sent.
 *
 * @throws TokenlaneError `INVALID_OPTIONS` at once for a wrong argument. With got 14 or older, every call rejects with
 * it, and nothing is sent.
 * @example
 * ```ts
 * const client = got.extend(gotTokens(tokens))
 * const records = await client('https://api.example.com/records').json()
 * ```
 */
export function gotTokens(tokens: TokenManager): GotTokens {
  mustBeManager(tokens, purpose)

  const handler: HandlerFunction = (options, next) => {
    const given = options as typeof options | undefined
    // got found the options wrong, and is about to say so
    if (given?.hooks === undefined) return next(options)
    if (isOld(given)) return refuse(given)
    const call = new Call(tokens, options)
    const going = next(options)
    const request = going as unknown as Request
    request.on('request', (sent) => call.sent(sent))
    if (options.isStream) {
      request.once(errorMonitor, (error: unknown) => call.end(error))
      request.once('end', () => call.end()).once('close', () => call.end())
      return going
    }
    ;(going as Promise<unknown>).then(
      () => call.end(),
      (error: unknown) => call.end(error),
    )
    // not what `then` returns: got would copy its own methods to that, which takes 3 to 4 µs
    return going
  }
  return { handlers: [handler] }
}

/** From got 15 on, options tell which of them a hook has changed. Older versions would send calls without a token. */
function isOld(options: object): boolean {
  return !('trackStateMutations' in options)
}

/** Fails as got does: a stream throws, a promise rejects. */
function refuse({ isStream }: { readonly isStream?: boolean | undefined }): never {
  if (isStream === true) tellVersion()
  return new Promise(tellVersion) as never
}

function tellVersion(): never {
  return refuseArgument(purpose, 'got', 'version 15 or later')
}
