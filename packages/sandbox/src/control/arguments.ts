import { keysOf, WrongValueError, check, checkEach } from '../allowed.ts'
import { definitions, type ControlName, type Parameter } from './definitions.ts'
import type { SandboxControl } from './sandbox-control.ts'

/**
 * Returns the named parameters of a JSON object in the order of a control function's arguments.
 *
 * @throws WrongValueError if there are others. It then names everything that is wrong.
 */
export function namedArguments(name: ControlName, given: Readonly<Record<string, unknown>>): unknown[] {
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
  const unknown = Array.from(rest.keys(), (key) => `"${key}" is not a parameter of ${name}; ${allowed}`)
  const refuse = (): never => {
    throw new WrongValueError(unknown)
  }
  return checkEach([refuse, () => parsedArguments(name, args)], (step) => step())
}

export function pathOf(name: ControlName): string {
  return `/v1/${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

export function checkedArguments(control: SandboxControl, parse: typeof parsedArguments): SandboxControl {
  const guarded = Object.entries(control).map(([name, act]) => [
    name,
    (...given: unknown[]): unknown =>
      (act as (...args: unknown[]) => unknown)(...parse(name as ControlName, given)),
  ])
  return Object.fromEntries(guarded)
}

/**
 * Returns the arguments of a control function, with times in milliseconds.
 *
 * @throws WrongValueError with everything that is wrong with them.
 */
export function parsedArguments(name: ControlName, given: readonly unknown[]): unknown[] {
  const parameters: readonly Parameter<unknown>[] = definitions[name].parameters
  return checkEach(parameters, (parameter, index) => check(parameter.schema, given[index], parameter.name))
}
