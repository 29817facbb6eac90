import { TokenlaneError } from '../errors.ts'

/** Ends the start-up: names the option, what was given, and what is allowed. */
export function refuse(path: string, given: string, allowed: string): never {
  throw new TokenlaneError(
    'INVALID_OPTIONS',
    `Cannot create token manager: \`${path}\` is ${given}; allowed: ${allowed}`,
  )
}

/** A value as an error message may show it: no text, since any text may be a secret in the wrong place. */
export function shape(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (value === '') return 'empty'
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

export function mustBeObject(
  value: unknown,
  path: string,
  keys?: readonly string[],
): asserts value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    refuse(path, shape(value), keys ? `an object with ${keys.join(', ')}` : 'an object')
  if (keys === undefined) return
  for (const key of Object.keys(value))
    if (!keys.includes(key)) refuse(`${path}.${key}`, 'no option', keys.join(', '))
}

/** The options that an object has itself, and not what somebody put on `Object.prototype`. */
export function ownOptions(value: unknown, path: string, keys?: readonly string[]): Record<string, unknown> {
  mustBeObject(value, path, keys)
  return Object.assign(Object.create(null) as Record<string, unknown>, value)
}

export function mustBeText(value: unknown, path: string, allowed: string): string {
  if (typeof value !== 'string' || value === '') refuse(path, shape(value), allowed)
  return value
}

/** A time span in milliseconds. */
export function mustBeDuration(
  value: unknown,
  path: string,
  { positive = false }: { positive?: boolean } = {},
): number {
  const fits = typeof value === 'number' && Number.isFinite(value) && (positive ? value > 0 : value >= 0)
  if (!fits) refuse(path, shape(value), `milliseconds, finite, ${positive ? 'above 0' : '0 or more'}`)
  return value
}

export function mustBeCount(value: unknown, path: string, least: 0 | 1): number {
  if (!Number.isSafeInteger(value) || (value as number) < least)
    refuse(path, shape(value), `a whole number, ${least} or more`)
  return value as number
}

export function mustBeFlag(value: unknown, path: string): boolean {
  if (typeof value !== 'boolean') refuse(path, shape(value), 'true or false')
  return value
}
