import { inspect } from 'node:util'

/** Returns everything of a value that a log or a serializer would show. */
export function shownOf(value: unknown): string {
  return inspect(value, { depth: 12, maxArrayLength: null, maxStringLength: null }) + serialized(value)
}

/** Returns JSON as a logger makes it that leaves out circles. */
export function serialized(value: unknown): string {
  const seen = new WeakSet()
  const json = JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner === 'bigint') return String(inner)
    if (typeof inner !== 'object' || inner === null) return inner
    if (seen.has(inner)) return undefined
    seen.add(inner)
    return inner
  })
  // of what is not JSON at all
  return json ?? ''
}

/**
 * Returns the paths on which a text can be reached from a value, by any property: hidden ones, those of symbols, and
 * what maps and sets hold. What no path reaches, no printer shows, with whichever options.
 */
export function pathsTo(text: string, value: unknown): string[] {
  const found: string[] = []
  const seen = new Set<unknown>([globalThis, process])
  const open: [value: unknown, path: string][] = [[value, '']]
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    const [inner, path] = next
    if (typeof inner === 'string' || Buffer.isBuffer(inner)) {
      if (inner.includes(text)) found.push(path)
    } else if (
      (typeof inner === 'object' || typeof inner === 'function') &&
      inner !== null &&
      !seen.has(inner)
    ) {
      seen.add(inner)
      open.push(...partsOf(inner).map(([name, part]): [unknown, string] => [part, `${path}.${name}`]))
    }
  }
  return found
}

function partsOf(value: object): [name: string, part: unknown][] {
  const properties = Reflect.ownKeys(value).map((key): [string, unknown] => [
    String(key),
    Object.getOwnPropertyDescriptor(value, key)?.value,
  ])
  const held = value instanceof Map || value instanceof Set ? [...value.entries()].flat() : []
  return [...properties, ...held.map((part, index): [string, unknown] => [`<${index}>`, part])]
}
