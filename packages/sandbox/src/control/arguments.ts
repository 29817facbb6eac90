import { keysOf, WrongValueError, check } from '../allowed.ts'
import { definitions, type ControlName, type Parameter } from './definitions.ts'
import type { SandboxControl } from './sandbox-control.ts'
import { withMilliseconds, durationForm, times } from '../duration.ts'

/**
 * Returns the named parameters of a JSON object in the order of a control function's arguments. Times may be texts such as
 * `"20s"`.
 *
 * @throws WrongValueError if there are others. It then names everything that is wrong.
 */
export function namedArguments(name: ControlName, named: Readonly<Record<string, unknown>>): unknown[] {
  const given = withMilliseconds(named) as Readonly<Record<string, unknown>>
  const parameters: readonly Parameter<unknown>[] = definitions[name].parameters
  const rest = new Map(Object.entries(given))
  for (const parameter of parameters) rest.delete(parameter.name)

  const args = parameters.map((parameter) => {
    if (parameter.spread === undefined || Object.hasOwn(given, parameter.name)) return given[parameter.name]
    const known = keysOf(parameter.schema)
    const fields = Object.fromEntries([...rest].filter(([key]) => known.includes(key)))
    for (const key of known) rest.delete(key)
    const isEmpty = Object.keys(fields).length === 0
    return isEmpty && parameter.schema.type === 'optional' ? undefined : fields
  })
  if (rest.size === 0) return args
  const names = parameters.flatMap((each) => (each.spread ? keysOf(each.schema) : each.name))
  const allowed = names.length === 0 ? 'it has no parameters' : `its parameters: ${names.join(', ')}`
  throw new WrongValueError([
    ...Array.from(rest.keys(), (key) => `"${key}" is not a parameter of ${name}; ${allowed}`),
    ...problemsOf(name, args),
  ])
}

/** Returns the path of a control function: its name in kebab-case. */
export function pathOf(name: ControlName): string {
  return `/v1/${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/** Returns the control functions with a check in front of each. */
export function checkedArguments(control: SandboxControl, problemsHere: typeof problemsOf): SandboxControl {
  const guarded = Object.entries(control).map(([name, act]) => [
    name,
    (...given: unknown[]): unknown => {
      const problems = problemsHere(name as ControlName, given)
      if (problems.length > 0) throw new WrongValueError(problems)
      return (act as (...args: unknown[]) => unknown)(...given)
    },
  ])
  return Object.fromEntries(guarded)
}

/** Returns everything that is wrong with the arguments of a control function. */
export function problemsOf(name: ControlName, args: readonly unknown[]): string[] {
  const parameters: readonly Parameter<unknown>[] = definitions[name].parameters
  return parameters.flatMap(({ name: parameter, schema }, index) => {
    try {
      check(schema, args[index], parameter)
      return []
    } catch (error) {
      if (error instanceof WrongValueError) return error.problems.map(withTimeForm)
      throw error
    }
  })
}

const wrongText = new RegExp(String.raw`^("(?:.*\.)?(?:${[...times].join('|')})" must be )(?=.*, not ')`)

/** Adds how a time may be written where a text was given: in JSON alone, because types refuse it elsewhere. */
function withTimeForm(problem: string): string {
  return problem.replace(wrongText, `$1${durationForm}, or `)
}
