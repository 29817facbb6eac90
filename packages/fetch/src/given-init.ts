import type { CallOptions } from '@tokenlane/core/adapter'

/** What a `fetch` takes that is declared once, or twice as with the types of Bun and Node together. */
type InitOf<Fetch> = Fetch extends {
  (input: never, init?: infer First): unknown
  (input: never, init?: infer Last): unknown
}
  ? NonNullable<First> & NonNullable<Last>
  : never

/** What the runtime's `fetch` takes, undici's `dispatcher` for this call, and how Tokenlane treats it. */
export type TokenlaneRequestInit = InitOf<typeof globalThis.fetch> & {
  tokenlane?: CallOptions | undefined
  /** Node's `fetch` accepts it in addition to the Fetch standard's options. */
  dispatcher?: unknown
}

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
