import { TokenlaneError } from '../errors.ts'
import { printable } from '../foreign-text.ts'
import { didYouMean } from './nearest.ts'

/** Throws an error that names the option, what was given, and what is allowed; `refusingTo` adds for what. */
export function refuse(path: string, given: string, allowed: string): never {
  throw new TokenlaneError('INVALID_OPTIONS', `\`${printable(path)}\` is ${given}; allowed: ${allowed}`)
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** Returns an option of an object's own: nothing that code elsewhere has added to `Object.prototype`. */
export function own(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/** Describes a value as an error message may show it: no text, since any text may be a secret in the wrong place. */
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
  allowed = 'an object',
): asserts value is Record<string, unknown> {
  if (!isRecord(value) || Array.isArray(value)) refuse(path, shape(value), allowed)
}

/**
 * Returns a refusal for each option that has none of these names. One that does not look like a name may be a secret, and
 * is not shown.
 */
export function unknownOptions(value: object, path: string, names: readonly string[]): (() => never)[] {
  const unknown = Object.keys(value).filter((key) => !names.includes(key))
  return unknown.map((key) => () => {
    const hint = didYouMean(key, names)
    return hint !== '' || /^[a-z][A-Za-z]{0,19}$/.test(key)
      ? refuse(pathOf(path, key), `not an option${hint}`, names.join(', '))
      : refuse(
          path,
          `an object with an unknown option (name of ${key.length} characters not shown)`,
          names.join(', '),
        )
  })
}

/** Returns the path of an option. The options of the manager itself are known by their name alone. */
export function pathOf(path: string, name: string): string {
  return path === 'options' ? name : `${path}.${name}`
}
