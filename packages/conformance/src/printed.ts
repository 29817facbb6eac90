import { inspect } from 'node:util'

import { secret, token } from './provocations.ts'

/** Returns everything that the console, a logger or a serializer shows of a value. */
export function printed(value: unknown): string {
  return [
    inspect(value),
    inspect(value, { depth: Infinity, maxArrayLength: null, maxStringLength: null }),
    // as Node prints an uncaught error
    ...[value].flat().map((one) => one instanceof Error && inspect(one, { customInspect: false, depth: 5 })),
    serialized(value),
    textsOf(value, new Set()).join(' '),
    textOf(value),
  ].join('\n')
}

function textOf(value: unknown): string {
  try {
    return String(value)
  } catch {
    // an object without a prototype has none
    return ''
  }
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
 * Returns the texts that structured loggers such as pino and winston find: in all properties that can be enumerated, own and
 * inherited, in what an error hides, and in what `toJSON` returns.
 */
function textsOf(value: unknown, seen: Set<unknown>): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null || seen.has(value)) return []
  seen.add(value)
  const { toJSON } = value as { toJSON?: unknown }
  if (typeof toJSON === 'function') return textsOf(Reflect.apply(toJSON, value, []), seen)
  const parts: unknown[] = []
  // with those that are inherited
  for (const name in value) parts.push((value as Record<string, unknown>)[name])
  if (value instanceof Error) parts.push(value.message, value.stack, value.cause)
  return parts.flatMap((part) => textsOf(part, seen))
}

/** Returns those of the values that show a secret or a token in print. */
export function leaksIn(values: readonly unknown[]): string[] {
  return leaking(values, printed)
}

/** The same for what is Tokenlane's own, which shows none of its hidden properties and getters either. */
export function hiddenLeaksIn(values: readonly unknown[]): string[] {
  return leaking(
    values,
    (value) => printed(value) + inspect(value, { depth: Infinity, showHidden: true, getters: true }),
  )
}

function leaking(values: readonly unknown[], show: (value: unknown) => string): string[] {
  return values
    .filter((value) => [secret, token].some((text) => show(value).includes(text)))
    .map((value) => inspect(value, { depth: 0 }).slice(0, 80))
}
