import { keysOf, WrongValueError } from '../allowed.ts'
import { withMilliseconds } from '../duration.ts'
import { problemsOf } from './checked.ts'
import { definitions, type ControlName, type Parameter } from './definitions.ts'

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
