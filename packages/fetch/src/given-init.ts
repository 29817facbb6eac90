import type { TokenlaneRequestInit } from './call.ts'

/** What a `Request` takes from an `init`. A runtime's `fetch` may take more, which no `Request` hands on. */
export const standard: ReadonlySet<string> = new Set(
  'body cache credentials duplex headers integrity keepalive method mode redirect referrer referrerPolicy signal window'.split(
    ' ',
  ),
)

const members = [...standard, 'dispatcher', 'tokenlane']

/**
 * Returns an `init` with members of its own, for copies: `fetch` finds those too that it inherits, and the getters of its
 * class.
 *
 * @see https://webidl.spec.whatwg.org/#js-to-dictionary
 */
export function ownInit(given: TokenlaneRequestInit): TokenlaneRequestInit {
  if (Object.getPrototypeOf(given) === Object.prototype) return given
  const found = members.filter((name) => name in given).map((name) => [name, Reflect.get(given, name)])
  return { ...given, ...Object.fromEntries(found) }
}
