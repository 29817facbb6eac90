import {
  mustBeCount,
  mustBeDuration,
  mustBeFlag,
  mustBeObject,
  own,
  refuse,
  refuseUnknown,
  shape,
} from './check.ts'
import { Faults } from './faults.ts'

/**
 * Reads one option: returns it as it is used, with its default in place.
 *
 * @throws TokenlaneError `INVALID_OPTIONS`, naming `path`, what was given and what is allowed.
 */
export type Reader<T> = (value: unknown, path: string) => T

/** An option that may be left out: what it is read as then, without a call. Most options are left out. */
export interface Optional<T> {
  readonly read: Reader<T>
  readonly missing: T
}

/** How the options of an object are read: a reader for each. */
export type Description<T> = { readonly [Name in keyof T]-?: Reader<T[Name]> | Optional<T[Name]> }

/**
 * What `Options` are read as: every option with its default in place, those of `As` as another type. So the compiler
 * holds an interface and its description together: neither can have an option that the other lacks.
 */
export type ReadAs<Options, As extends { readonly [Name in keyof Options]?: unknown } = object> = {
  readonly [Name in keyof Options]-?: Name extends keyof As ? As[Name] : Exclude<Options[Name], undefined>
}

/** Reads an object with these options and no others. One error names everything that is wrong with them. */
export function object<T extends object>(description: Description<T>): Reader<T> {
  const names = Object.keys(description)
  const readers = description as Readonly<Record<string, Reader<unknown> | Optional<unknown>>>
  return (value, path) => {
    mustBeObject(value, path)
    const faults = new Faults()
    for (const key of Object.keys(value))
      if (!names.includes(key)) faults.collect(refuseUnknown, key, path, names)
    const read: Record<string, unknown> = {}
    for (const name of names) {
      const reader = readers[name] as Reader<unknown> | Optional<unknown>
      const given = own(value, name)
      if (typeof reader === 'function') read[name] = faults.collect(reader, given, pathOf(path, name))
      else if (given === undefined) read[name] = reader.missing
      else read[name] = faults.collect(reader.read, given, pathOf(path, name))
    }
    faults.raise()
    return read as T
  }
}

/** Reads an option that may be left out. */
export function optional<T>(read: Reader<T>): Optional<T | undefined>
export function optional<T, Default>(read: Reader<T>, missing: Default): Optional<T | Default>
export function optional<T>(read: Reader<T>, missing?: T): Optional<T | undefined> {
  return { read, missing }
}

/** Reads an array, each item by the same reader. */
export function list<T>(item: Reader<T>, allowed: string): Reader<readonly T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) refuse(path, shape(value), allowed)
    const faults = new Faults()
    const read = value.map((given: unknown, index) => faults.collect(item, given, `${path}[${index}]`))
    faults.raise()
    return read as T[]
  }
}

/** Reads an object whose names are the caller's choice, each value by the same reader. */
export function record<T>(item: Reader<T>, allowed: string): Reader<ReadonlyMap<string, T>> {
  return (value, path) => {
    mustBeObject(value, path)
    const faults = new Faults()
    const read = Object.entries(value).map(
      ([name, given]) => [name, faults.collect(item, given, `${path}.${name}`)] as const,
    )
    if (read.length === 0) refuse(path, 'empty', allowed)
    faults.raise()
    return new Map(read as (readonly [string, T])[])
  }
}

/** Reads one of these texts or numbers. */
export function oneOf<const T extends string | number>(...allowed: readonly T[]): Reader<T> {
  return (value, path) => {
    const text = allowed.map((one) => (typeof one === 'string' ? `'${one}'` : String(one))).join(' or ')
    return allowed.find((one) => one === value) ?? refuse(path, shape(value), text)
  }
}

export function duration(range?: { readonly positive?: boolean }): Reader<number> {
  return (value, path) => mustBeDuration(value, path, range)
}

export function count(least: 0 | 1): Reader<number> {
  return (value, path) => mustBeCount(value, path, least)
}

export function aFunction<T>(allowed: string): Reader<T> {
  return (value, path) => (typeof value === 'function' ? (value as T) : refuse(path, shape(value), allowed))
}

export const flag: Reader<boolean> = mustBeFlag

/** The options of the manager itself are known by their name alone. */
function pathOf(path: string, name: string): string {
  return path === 'options' ? name : `${path}.${name}`
}
