import { allOf, isChosen, isText, mustBeObject, own, pathOf, refuse, shape, unknownOptions } from './check.ts'

/**
 * Reads one option: returns it as it is used, with its default in place.
 *
 * @throws TokenlaneError `INVALID_OPTIONS`, naming `path`, what was given and what is allowed.
 */
export type Reader<T> = (value: unknown, path: string) => T

/** How the options of an object are read: a reader for each. */
export type Description<T> = { readonly [Name in keyof T]-?: Reader<T[Name]> }

/**
 * What `Options` are read as: every option with its default in place, those of `As` as another type. So the compiler
 * holds an interface and its description together: neither can have an option that the other lacks.
 */
export type ReadAs<Options, As extends { readonly [Name in keyof Options]?: unknown } = object> = {
  readonly [Name in keyof Options]-?: Name extends keyof As ? As[Name] : Exclude<Options[Name], undefined>
}

/** Reads an object that has only these options and `others`, which are read elsewhere. */
export function object<T extends object>(
  description: Description<T>,
  others: readonly string[] = [],
): Reader<T> {
  const readers = Object.entries<Reader<unknown>>(description)
  const names = [...Object.keys(description), ...others]
  return (value, path) => {
    mustBeObject(value, path)
    const entries = allOf(
      [...unknownOptions(value, names), ...readers],
      ([name, read]) => [name, read(own(value, name), pathOf(path, name))] as const,
    )
    return Object.fromEntries(entries) as T
  }
}

/** Reads an option that may be left out; `missing` is its default. */
export function optional<T, Missing = undefined>(read: Reader<T>, missing?: Missing): Reader<T | Missing> {
  return (value, path) => (value === undefined ? (missing as Missing) : read(value, path))
}

/** Reads an object with names of the caller's choice, each value by the same reader. */
export function record<T>(
  read: (value: unknown, path: string, name: string) => T,
): Reader<readonly (readonly [string, T])[]> {
  return (value, path) => {
    mustBeObject(value, path)
    return allOf(Object.entries(value), ([name, given]) => [name, read(given, `${path}.${name}`, name)])
  }
}

export function list<T>(item: Reader<T>, allowed: string): Reader<readonly T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) refuse(path, shape(value), allowed)
    return allOf(value, (given: unknown, index) => item(given, `${path}[${index}]`))
  }
}

export function fitting<T>(fits: (value: T) => boolean, allowed: string): Reader<T> {
  return (value, path) =>
    fits(value as T)
      ? (value as T)
      : refuse(path, typeof value === 'number' ? `${value}` : shape(value), allowed)
}

/** @param besides - what else is allowed, read elsewhere. */
export function oneOf<const T extends string>(names: readonly T[], besides: string = ''): Reader<T> {
  const allowed = besides + names.map((one) => `'${one}'`).join(' or ')
  return (value, path) =>
    names.includes(value as T)
      ? (value as T)
      : refuse(path, isText(value) ? 'an unknown name' : shape(value), allowed)
}

export function duration(least: '0 or more' | 'above 0', unit: string = 'milliseconds'): Reader<number> {
  return fitting(
    (value) => Number.isFinite(value) && (value > 0 || (value === 0 && least === '0 or more')),
    `a finite number of ${unit}, ${least}`,
  )
}

export function count(least: 0 | 1): Reader<number> {
  return fitting((value) => Number.isSafeInteger(value) && value >= least, `a whole number, ${least} or more`)
}

export function statusCodes(
  most: number,
  except: readonly unknown[],
  excepted: string,
): Reader<readonly number[]> {
  const allowed = `an array of status codes, 400 to ${most} except ${excepted}`
  const status = fitting<number>(
    (given) => Number.isInteger(given) && given >= 400 && given <= most && !except.includes(given),
    allowed,
  )
  return list(status, allowed)
}

export function text(allowed: string): Reader<string> {
  return fitting<string>(isChosen, allowed)
}

export function aFunction<T>(allowed: string): Reader<T> {
  return fitting((value) => typeof value === 'function', allowed)
}

export const flag: Reader<boolean> = fitting((value) => typeof value === 'boolean', 'true or false')
