import { WrongValueError } from '../allowed.ts'
import { definitions, type ControlName, type Parameter } from './definitions.ts'

/** Returns the named parameters of a JSON object in the order of a control function's arguments. */
export function namedArguments(name: ControlName, given: Readonly<Record<string, unknown>>): unknown[] {
  const parameters: readonly Parameter<unknown>[] = definitions[name].parameters
  const rest = new Map(Object.entries(given))
  for (const parameter of parameters) rest.delete(parameter.name)

  const args = parameters.map((parameter) => {
    if (parameter.spread === undefined || Object.hasOwn(given, parameter.name)) return given[parameter.name]
    const fields = Object.fromEntries(rest)
    const isEmpty = rest.size === 0
    rest.clear()
    return isEmpty && parameter.schema.type === 'optional' ? undefined : fields
  })
  if (rest.size === 0) return args
  const allowed =
    parameters.length === 0 ? 'it has no parameters' : parameters.map((each) => each.name).join(', ')
  throw new WrongValueError(
    Array.from(rest.keys(), (key) => `"${key}" is not a parameter of ${name}; its parameters: ${allowed}`),
  )
}

/** Returns the path of a control function: its name in kebab-case. */
export function pathOf(name: ControlName): string {
  return `/v1/${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}
