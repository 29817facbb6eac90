import { isLiteral } from './literal.ts'

/**
 * The header fields of a call. A literal stays one: `fetch` makes `Headers` of whatever it gets, and making them before
 * would take that time twice.
 */
export type Fields = Headers | Readonly<Record<string, string>>

/** A copy of what was given: the caller may change that while the call waits. */
export function fieldsOf(given: RequestInit['headers']): Fields {
  return isRecord(given) ? { ...given } : new Headers(given)
}

export function hasAuthorization(fields: Fields): boolean {
  if (fields instanceof Headers) return fields.has('authorization')
  return Object.keys(fields).some((name) => name.toLowerCase() === 'authorization')
}

/** A copy, so that only the request that is sent has the token. */
export function withToken(fields: Fields, authorization: string): Fields {
  if (!(fields instanceof Headers)) return { ...fields, authorization }
  const copy = new Headers(fields)
  copy.set('authorization', authorization)
  return copy
}

/** What can be iterated is a list of pairs, even if it is a literal. */
function isRecord(given: RequestInit['headers']): given is Record<string, string> | undefined {
  if (given === undefined) return true
  return typeof given === 'object' && given !== null && isLiteral(given) && !(Symbol.iterator in given)
}
