import { check, checkEach, keysOf, WrongValueError } from '../allowed.ts'
import { type ControlName, definitions, type Parameter } from './definitions.ts'
import type { SandboxControl } from './sandbox-control.ts'
import type { Happening, Scenario, ScenarioStep } from './scenario.ts'

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

/** Returns the control functions with a check in front of each. */
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

/** Control functions that a step may call: all that change something, except those for scenarios. */
const actions = (Object.keys(definitions) as ControlName[]).filter(
  (name) => definitions[name].reads !== true && !name.endsWith('Scenario'),
)

/**
 * Returns what happens in a scenario, and when.
 *
 * @throws WrongValueError with what is wrong in every step, before anything happens.
 */
export function plan(
  { steps }: Scenario,
  control: SandboxControl,
  parse: typeof parsedArguments,
): Happening[] {
  return checkEach(steps, (step, index): Happening => {
    try {
      const [name, args] = callOf(step)
      parse(name, args)
      const act = control[name] as (...given: unknown[]) => unknown
      return { at: step.after as number, act: () => void act(...args) }
    } catch (error) {
      if (!(error instanceof WrongValueError)) throw error
      throw new WrongValueError(error.problems.map((problem) => `steps[${index}]: ${problem}`))
    }
  })
}

function callOf(step: ScenarioStep): [ControlName, unknown[]] {
  const { after: _, do: wanted, ...parameters } = step
  const name = actions.find((each) => each === wanted)
  if (name === undefined) {
    throw new WrongValueError([`"do" must be one of ${actions.join(', ')}, not '${wanted}'`])
  }
  return [name, namedArguments(name, parameters)]
}
