import {
  checkCallOptions,
  copyOfFields,
  hasAuthorization,
  isReplayable,
  isReplayableRequest,
  OutgoingRequest,
  requestClass,
  type OutgoingCall,
} from '@tokenlane/core/adapter'

import { ownInit, standard, type TokenlaneRequestInit } from './given-init.ts'

/** Whether this is a `Request`. The tag recognizes one of another realm or package, too. */
export function isRequest(value: unknown): value is Request {
  const tag = (value as { readonly [Symbol.toStringTag]?: unknown } | null | undefined)?.[Symbol.toStringTag]
  // `fetch` reads an object that only says so as a URL
  return tag === 'Request' && !Object.hasOwn(value as object, Symbol.toStringTag)
}

/**
 * Returns the call where `input` or `init` is a `Request`, which decides as `fetch` reads it; `undefined` for one that brings
 * its own `Authorization`.
 */
export function requestCall(
  input: Parameters<typeof globalThis.fetch>[0],
  asGiven: TokenlaneRequestInit | null | undefined,
): OutgoingCall | undefined {
  const init: TokenlaneRequestInit = isRequest(asGiven) ? asGiven : ownInit(asGiven ?? {})
  const given = (isRequest(input) ? input : init) as Request
  if (hasAuthorization(copyOfFields(init.headers ?? given.headers))) return undefined
  const { tokenlane, ...rest } = init
  const { priority, resend, cost } = checkCallOptions(tokenlane)
  const Class = requestClass(given)
  const asked = isRequest(init) ? init : rest
  const isPlain = isRequest(input) && !Object.keys(rest).some((name) => standard.has(name))
  // one with a body is used up at once, as by `fetch`
  const request = isPlain && input.body === null ? input : new Class(input, asked)
  const replayable = isReplayable(rest.body) && isReplayableRequest(request)
  const beyond = Object.fromEntries(Object.entries(rest).filter(([name]) => !standard.has(name)))
  return new OutgoingRequest(request, { client: 'fetch', priority, resend, cost, replayable, beyond })
}
