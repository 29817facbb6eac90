import { inspect } from 'node:util'

import * as v from 'valibot'

import { durationForm, parseDuration } from './in-words.ts'

/**
 * A schema of allowed values. Its message completes the sentence `"x" must be …`, so that every wrong value is refused in
 * the same words. The same schema describes the value in OpenAPI.
 */
export type Allowed<Value> = v.GenericSchema<Value>

/** Thrown for a value that its schema does not allow. The message has one line for each problem. */
export class WrongValueError extends TypeError {
  override readonly name = 'TypeError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

interface Range {
  min: number
  max: number
}

/** The longest time that a timer of Node can measure, in milliseconds: almost 25 days. */
export const longestTime = 2_147_483_647

export function number({ min, max }: Range): Allowed<number> {
  const allowed = `a number from ${min} to ${max}`
  return v.pipe(v.number(allowed), v.minValue(min, allowed), v.maxValue(max, allowed))
}

export function wholeNumber({ min, max = Number.MAX_SAFE_INTEGER }: Partial<Range>): Allowed<number> {
  const least = min ?? 0
  const allowed = `a whole number from ${least} to ${max}`
  return v.pipe(v.number(allowed), v.integer(allowed), v.minValue(least, allowed), v.maxValue(max, allowed))
}

/** A time in milliseconds. It may be a text such as `20s`, which JSON and scenarios have. */
export function time({ min, max }: Partial<Range> = {}): Allowed<number> {
  const ms = number({ min: min ?? 0, max: max ?? longestTime })
  const fromText = v.pipe(
    v.string(),
    v.description(durationForm),
    v.transform((text) => parseDuration(text)),
    ms,
  )
  const allowed = `a number from ${min ?? 0} to ${max ?? longestTime}, or ${durationForm}`
  return v.union([ms, fromText], allowed) as unknown as Allowed<number>
}

export const text: Allowed<string> = v.string('a string')

export const trueOrFalse: Allowed<boolean> = v.boolean('true or false')

export function oneOf<Word extends string>(words: readonly Word[]): Allowed<Word> {
  return v.picklist(words, words.map((word) => `'${word}'`).join(' or '))
}

export function list<Item>(item: Allowed<Item>): Allowed<readonly Item[]> {
  return v.array(item, 'an array')
}

export function optional<Value>(schema: Allowed<Value>): Allowed<Value | undefined> {
  return v.optional(schema)
}

/** Allows a value that any of these schemas allows. */
export function either<Values extends readonly unknown[]>(
  kinds: { readonly [Index in keyof Values]: Allowed<Values[Index]> },
  allowed: string,
): Allowed<Values[number]> {
  return v.union(kinds as readonly Allowed<Values[number]>[], allowed)
}

/**
 * Allows an object with these keys only, unless it has others `besides`: a misspelt option would otherwise keep its default
 * without an error.
 */
export function object<Value extends object>(
  entries: { readonly [Key in keyof Value]-?: Allowed<Value[Key]> },
  besides = false,
): Allowed<Value> {
  // valibot goes through inherited ones, too
  const own = Object.assign(Object.create(null), entries) as Record<string, Allowed<unknown>>
  const allowed = `an object with no keys except ${Object.keys(own).join(', ')}`
  const message = ({ expected, path }: v.BaseIssue<unknown>): string => {
    const missing = expected?.startsWith('"') ? own[String(path?.[0]?.key)] : undefined
    return missing === undefined ? allowed : allowedBy(missing)
  }
  const schema = besides ? v.looseObject(own, message) : v.strictObject(own, message)
  return schema as unknown as Allowed<Value>
}

/** Returns the keys of the objects that a schema allows; none unless it allows objects with certain keys only. */
export function keysOf(schema: Allowed<unknown>): string[] {
  if ('wrapped' in schema) return keysOf(schema.wrapped as Allowed<unknown>)
  return 'entries' in schema ? Object.keys(schema.entries as object) : []
}

/** Returns the end of the sentence `"x" must be …`. */
function allowedBy(schema: Allowed<unknown>): string {
  return 'message' in schema && typeof schema.message === 'string' ? schema.message : 'given'
}

/**
 * Checks a value from outside.
 *
 * @param name - what messages call the value itself. Its parts are named by their path.
 * @throws WrongValueError with every problem: which value, what is allowed, what was given.
 */
export function check<Value>(schema: Allowed<Value>, given: unknown, name: string): Value {
  const { success, output, issues } = v.safeParse(schema, ownParts(given), { abortPipeEarly: true })
  if (success) return ownParts(output) as Value
  throw new WrongValueError([...new Set(issues.map((issue) => problemOf(issue, name)))])
}

/** Maps the items. Throws one error with what is wrong with any of them. */
export function checkEach<Item, Result>(
  items: readonly Item[],
  read: (item: Item, index: number) => Result,
): Result[] {
  const problems: string[] = []
  const results = items.flatMap((item, index) => {
    try {
      return [read(item, index)]
    } catch (error) {
      if (!(error instanceof WrongValueError)) throw error
      problems.push(...error.problems)
      return []
    }
  })
  if (problems.length > 0) throw new WrongValueError(problems)
  return results
}

/** Copies objects without a prototype: what other code has put on every object is none of their parts. */
function ownParts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ownParts)
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value
  const parts = Object.entries(value).map(([name, part]) => [name, ownParts(part)] as const)
  return Object.assign(Object.create(null), Object.fromEntries(parts))
}

function problemOf(issue: v.BaseIssue<unknown>, name: string): string {
  const path = [...(issue.path ?? [])]
  const last = path.at(-1)
  let given = last === undefined ? issue.input : last.value
  if (issue.type === 'strict_object' && issue.expected === 'never' && last !== undefined) {
    path.pop()
    given = last.input
  }
  const where = path.map(({ key }) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('')
  const shown = inspect(given, { depth: 1, breakLength: Infinity }).replaceAll(
    '[Object: null prototype] ',
    '',
  )
  return `"${where.replace(/^\./, '') || name}" must be ${issue.message}, not ${shown}`
}
