import { checkEach, WrongValueError } from '../allowed.ts'
import { type parsedArguments, namedArguments } from './arguments.ts'
import type { SandboxControl } from './sandbox-control.ts'
import { definitions, type ControlName } from './definitions.ts'
import type { Happening, Scenario, ScenarioStep } from './scenario.ts'

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
