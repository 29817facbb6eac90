import type { Headers } from './handler.ts'

/**
 * Returns a copy, since the caller may change its headers while the call waits, and an iterator can be read only once.
 * What undici refuses stays as wrong as it is.
 */
export function copyOf(headers: Headers): Headers {
  if (typeof headers !== 'object' || headers === null) return headers
  if (Array.isArray(headers)) return [...(headers as unknown[])]
  if (!isIterable(headers)) return { ...headers }
  const pairs = [...headers]
  return pairs.every((pair) => Array.isArray(pair) && pair.length === 2)
    ? pairs.flat()
    : (new Set(pairs) as Headers)
}

/** Whether a copy holds an `Authorization` of the caller's own. undici leaves out what is undefined. */
export function hasAuthorization(copy: Headers): boolean {
  if (typeof copy !== 'object' || copy === null) return false
  return entriesOf(copy).some(
    ([name, value]) => value !== undefined && String(name).toLowerCase() === 'authorization',
  )
}

/** Returns the headers with the token, so that only the request that is sent has it. */
export function withToken(copy: Headers, authorization: string): Headers {
  if (copy === undefined || copy === null) return { authorization }
  if (typeof copy !== 'object' || copy instanceof Set) return copy
  return Array.isArray(copy)
    ? [...(copy as unknown[]), 'authorization', authorization]
    : { ...(copy as object), authorization }
}

function entriesOf(copy: object): (readonly [unknown, unknown])[] {
  if (!Array.isArray(copy)) return Object.entries(copy)
  const values = copy as unknown[]
  return values.flatMap((name, at) => (at % 2 === 0 ? [[name, values[at + 1]] as const] : []))
}

/** Whether undici reads these as pairs. An iterator that other code gave to every object is none of the caller's. */
function isIterable(headers: object): headers is Iterable<unknown> {
  const { [Symbol.iterator]: iterator } = headers as Partial<Iterable<unknown>>
  return typeof iterator === 'function' && iterator !== Reflect.get(Object.prototype, Symbol.iterator)
}
