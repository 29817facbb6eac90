import { inspect } from 'node:util'

/** Everything of a value that a log or a serializer would show. */
export function shownOf(value: unknown): string {
  return inspect(value, { depth: 12, maxArrayLength: null, maxStringLength: null }) + serialized(value)
}

export function serialized(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    // what refers to itself cannot be serialized, by a logger either
    return ''
  }
}
