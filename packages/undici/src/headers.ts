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

/**
 * Whether a copy holds an `Authorization` of the caller's own. undici leaves out what is undefined; an empty one, as
 * generated clients set it, is none.
 */
export function hasAuthorization(copy: Headers): boolean {
  if (typeof copy !== 'object' || copy === null) return false
  return entriesOf(copy).some(([name, value]) => isAuthorization(name) && !isEmpty(value))
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'string' ? value.trim() === '' : value === undefined
}

function isAuthorization(name: unknown): boolean {
  return String(name).toLowerCase() === 'authorization'
}

/** Returns the headers with the token, so that only the request that is sent has it. */
export function withToken(copy: Headers, authorization: string): Headers {
  if (copy === undefined || copy === null) return { authorization }
  if (typeof copy !== 'object' || copy instanceof Set) return copy
  if (Array.isArray(copy)) {
    const values = copy as unknown[]
    const at = values.findIndex((name, index) => index % 2 === 0 && isAuthorization(name))
    return [...(at === -1 ? values : values.toSpliced(at, 2)), 'authorization', authorization]
  }
  const others: Record<string, unknown> = { ...(copy as object) }
  for (const name of Object.keys(others)) if (isAuthorization(name)) delete others[name]
  return { ...others, authorization }
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
