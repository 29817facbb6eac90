/**
 * The header fields of a call. What was given as a record stays one: `fetch` makes `Headers` of whatever it gets, and
 * `Headers` made before would take that time twice and put the names in lower case.
 */
export type HeaderFields = Headers | Readonly<Record<string, string | readonly string[]>>

/**
 * Returns a copy of what `fetch` takes as headers, since the caller may change that while the call waits.
 *
 * @throws TypeError for what is not headers.
 */
export function copyOfFields(given: RequestInit['headers']): HeaderFields {
  if (given === undefined) return {}
  if (typeof given === 'object' && given !== null && !(Symbol.iterator in given)) return { ...given }
  const Class = isHeaders(given) ? (given.constructor as typeof Headers) : Headers
  return new Class(given)
}

/** Whether the fields hold an `Authorization` of the caller's own. */
export function hasAuthorization(fields: HeaderFields): boolean {
  if (isHeaders(fields)) return fields.has('authorization')
  for (const name of Object.keys(fields))
    if (name.length === 13 && name.toLowerCase() === 'authorization') return true
  return false
}

/** Returns a copy with the token, so that only the request that is sent has it. */
export function withToken(fields: Headers, authorization: string): Headers
export function withToken(fields: HeaderFields, authorization: string): HeaderFields
export function withToken(fields: HeaderFields, authorization: string): HeaderFields {
  if (!isHeaders(fields)) return { ...fields, authorization }
  const copy = new (fields.constructor as typeof Headers)(fields)
  copy.set('authorization', authorization)
  return copy
}

/** Whether these are `Headers`. The tag recognizes those of another package, too. */
function isHeaders(fields: HeaderFields | RequestInit['headers']): fields is Headers {
  return (
    (fields as { readonly [Symbol.toStringTag]?: unknown } | undefined)?.[Symbol.toStringTag] === 'Headers'
  )
}
