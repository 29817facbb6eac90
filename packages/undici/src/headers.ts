// undici takes headers as an object, as names and values in turn, or as pairs. What it refuses stays as wrong as it is.

/** Returns a copy: the caller may change its headers while the call waits, and an iterator can be read only once. */
export function copyOf(headers: unknown): unknown {
  if (typeof headers !== 'object' || headers === null) return headers
  if (Array.isArray(headers)) return [...(headers as unknown[])]
  if (!isIterable(headers)) return { ...headers }
  const pairs = [...headers]
  return pairs.every((pair) => Array.isArray(pair) && pair.length === 2) ? pairs.flat() : new Set(pairs)
}

/**
 * Whether a copy holds an `Authorization` of the caller's own. An empty one, as generated clients set it, is none, nor is one
 * that undici leaves out or makes empty.
 */
export function hasAuthorization(copy: unknown): boolean {
  if (Array.isArray(copy))
    return copy.some((name, at) => at % 2 === 0 && isAuthorization(name) && !isEmpty(copy[at + 1]))
  const fields = Object(copy) as Record<string, unknown>
  return Object.keys(fields).some((name) => isAuthorization(name) && !isEmpty(fields[name]))
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'string' ? value.trim() === '' : (value ?? undefined) === undefined
}

function isAuthorization(name: unknown): boolean {
  return String(name).toLowerCase() === 'authorization'
}

export function withToken(copy: unknown, authorization: string): unknown {
  if (typeof (copy ?? {}) !== 'object' || copy instanceof Set) return copy
  if (Array.isArray(copy)) {
    const others: unknown[] = copy.filter((_, at) => !isAuthorization(copy[at - (at % 2)]))
    return [...others, 'authorization', authorization]
  }
  const fields: Record<string, unknown> = { ...(copy as object | undefined), authorization }
  for (const name of Object.keys(fields))
    if (name !== 'authorization' && isAuthorization(name)) delete fields[name]
  return fields
}

/** Whether undici reads these as pairs. An iterator that other code gave to every object is none of the caller's. */
function isIterable(headers: object): headers is Iterable<unknown> {
  const { [Symbol.iterator]: iterator } = headers as Partial<Iterable<unknown>>
  return typeof iterator === 'function' && iterator !== Reflect.get(Object.prototype, Symbol.iterator)
}
