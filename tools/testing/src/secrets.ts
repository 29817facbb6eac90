import { inspect } from 'node:util'

/** Everything of a value that a log or a serializer would show. */
export function shownOf(value: unknown): string {
  return inspect(value, { depth: 12, maxArrayLength: null, maxStringLength: null }) + serialized(value)
}

/** JSON as a logger makes it that minds no circles. */
export function serialized(value: unknown): string {
  const seen = new WeakSet()
  const json = JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner === 'bigint') return String(inner)
    if (typeof inner !== 'object' || inner === null) return inner
    if (seen.has(inner)) return undefined
    seen.add(inner)
    return inner
  })
  // of what is no JSON at all
  return json ?? ''
}
