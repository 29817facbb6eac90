import { inspect } from 'node:util'

/** Throws the one kind of error that a wrong option gets: which one, what is allowed, what was given. */
function refuse(name: string, allowed: string, given: unknown): never {
  throw new TypeError(
    `"${name}" must be ${allowed}, not ${inspect(given, { depth: 1, breakLength: Infinity })}`,
  )
}

/** The number range that an option allows, both ends included. */
interface NumberRange {
  min: number
  max: number
  /** Whether fractions are refused. */
  whole?: boolean
}

export function mustBeNumber(name: string, given: unknown, { min, max, whole = false }: NumberRange): number {
  const fits =
    typeof given === 'number' && given >= min && given <= max && (!whole || Number.isInteger(given))
  if (!fits) refuse(name, `a ${whole ? 'whole ' : ''}number from ${min} to ${max}`, given)
  return given
}

export function mustBeBoolean(name: string, given: unknown): boolean {
  if (typeof given !== 'boolean') refuse(name, 'true or false', given)
  return given
}

export function mustBeString(name: string, given: unknown): string {
  if (typeof given !== 'string') refuse(name, 'a string', given)
  return given
}

export function mustBeList(name: string, given: unknown): readonly unknown[] {
  if (!Array.isArray(given)) refuse(name, 'an array', given)
  return given
}

export function mustBeOneOf<Word extends string>(name: string, given: unknown, words: readonly Word[]): Word {
  const word = words.find((candidate) => candidate === given)
  if (word === undefined) refuse(name, words.map((each) => `'${each}'`).join(' or '), given)
  return word
}

/** Refuses keys that nobody reads, because a misspelt option would silently keep its default. */
export function mustBeObject(name: string, given: unknown, keys: readonly string[]): Record<string, unknown> {
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given)
  if (!isObject || Object.keys(given).some((key) => !keys.includes(key))) {
    refuse(name, `an object with no keys but ${keys.join(', ')}`, given)
  }
  return given as Record<string, unknown>
}
