import { errorForAll, isTokenlaneError, reasonOf, TokenlaneError } from '../errors.ts'
import { printable } from '../foreign-text.ts'
import { meantBy, meantElsewhere, wayWithout } from './meant.ts'

/** Throws an error with the option, what was given, and what is allowed; `refusingTo` adds the start of the sentence. */
export function refuse(path: string, given: string, allowed: string): never {
  throw new TokenlaneError('INVALID_OPTIONS', `\`${printable(path)}\` is ${given}; allowed: ${allowed}`)
}

/** Maps `items`, and collects the errors of all of them in one. */
export function allOf<Item, T>(items: readonly Item[], read: (item: Item, index: number) => T): T[] {
  const results: T[] = []
  const faults: TokenlaneError[] = []
  for (const [index, item] of items.entries())
    try {
      results.push(read(item, index))
    } catch (error) {
      if (!isTokenlaneError(error)) throw error
      faults.push(...(error.failures ?? [error]))
    }
  const [first] = faults
  if (first === undefined) return results
  const code = faults.every((fault) => fault.code === first.code) ? first.code : 'INVALID_OPTIONS'
  throw errorForAll(faults, code, `${faults.length} options are invalid:`)
}

/**
 * Reads options to do something. Errors about them name what could not be done, and their stack begins where `caller` was
 * called: a runtime prints that line.
 */
export function refusingTo<T>(action: string, act: () => T, caller?: (...args: never) => unknown): T {
  try {
    return act()
  } catch (error) {
    if (!isTokenlaneError(error)) throw error
    const named = naming(action, error)
    if (caller !== undefined) Error.captureStackTrace?.(named, caller)
    throw named
  }
}

function naming(action: string, error: TokenlaneError): TokenlaneError {
  const reason = reasonOf(error)
  if (reason.startsWith('Cannot ')) return error
  const failures = error.failures?.map((failure) => naming(action, failure))
  return new TokenlaneError(error.code, `Cannot ${printable(action)}: ${reason}`, { failures })
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** Whether something from outside is text, and not empty. */
export const isText = (given: unknown): given is string => typeof given === 'string' && given !== ''

/** What an unset variable leaves where it is made text, and white space. */
const unset = /^(?:undefined|null|NaN|\[object \w+\]|\s+)$/

/** Whether an option is text that somebody chose. */
export const isChosen = (given: unknown): given is string => isText(given) && !unset.test(given)

/** Returns an own option: nothing that other code added to `Object.prototype`. */
export function own(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/** Tells the members of a union apart by a member of its own. */
export function has<T extends object, Name extends string>(
  value: T,
  name: Name,
): value is Extract<T, { readonly [Own in Name]: unknown }> {
  return Object.hasOwn(value, name)
}

/** Describes a value for a message: no chosen text or number, since any may be a misplaced secret. */
export function shape(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === '') return 'empty'
  if (typeof value === 'string' && unset.test(value)) return `'${value}'`
  if (value === null || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

export function mustBeObject(
  value: unknown,
  path: string,
  allowed = 'an object',
): asserts value is Record<string, unknown> {
  if (!isRecord(value) || Array.isArray(value)) refuse(path, shape(value), allowed)
  // `Headers`, `URLSearchParams` and `Map` look empty
  if (Symbol.iterator in value)
    refuse(path, 'an object that is iterated', `${allowed} with properties (Object.fromEntries makes one)`)
}

/**
 * Returns what refuses each option of another name: with the option that was probably meant, or else with all that are
 * allowed. A name that does not look like one may be a secret.
 *
 * @param others what may have been meant.
 */
export function unknownOptions(
  value: object,
  names: readonly string[],
  others: readonly string[] = names,
): [name: string, Refusal][] {
  const unknown = Object.keys(value).filter((key) => !names.includes(key) && own(value, key) !== undefined)
  return unknown.map((key) => {
    const here = meantBy(key, others)
    const isName = here !== undefined || /^(?!.{31})[a-z]{1,20}(?:[A-Z][a-z]*){0,3}$/.test(key)
    const refusal: Refusal = (_, path) => {
      const meant = here ?? meantElsewhere(key, path)
      if (meant === undefined)
        refuse(path, 'not an option', wayWithout(key) ?? [...new Set(names)].join(', '))
      const what = `\`${printable(path)}\` is not an option (did you mean \`${meant}\`?)`
      throw new TokenlaneError('INVALID_OPTIONS', what)
    }
    return [isName || wayWithout(key) ? key : '(not shown)', refusal]
  })
}

type Refusal = (value: unknown, path: string) => never

/** Refuses an option beside another one that excludes it. */
export function besides(other: string): Refusal {
  return (_, path) => refuse(path, `given with \`${other}\``, 'one of the two')
}

/** Returns the path of an option. The options of the manager itself are known by their name alone. */
export function pathOf(path: string, name: string): string {
  return path === 'options' ? name : `${path}.${name}`
}
