import { WrongValueError } from '../allowed.ts'
import { type problemsOf, namedArguments } from './arguments.ts'
import type { SandboxControl } from './sandbox-control.ts'
import { definitions, type ControlName } from './definitions.ts'
import { parseDuration } from '../duration.ts'
import type { Happening, Scenario, ScenarioStep } from '../scenario/scenario.ts'

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
  problemsHere: typeof problemsOf,
): Happening[] {
  const problems: string[] = []
  const happenings = steps.map((step, index): Happening => {
    const { after } = step
    const at = typeof after === 'number' ? after : (parseDuration(after) ?? 0)
    try {
      const [name, args] = callOf(step)
      const wrong = problemsHere(name, args)
      if (wrong.length > 0) throw new WrongValueError(wrong)
      const act = control[name] as (...given: unknown[]) => unknown
      return { at, act: () => void act(...args) }
    } catch (error) {
      if (!(error instanceof WrongValueError)) throw error
      problems.push(...error.problems.map((problem) => `steps[${index}]: ${problem}`))
      return { at, act: () => {} }
    }
  })
  if (problems.length > 0) throw new WrongValueError(problems)
  return happenings
}

function callOf(step: ScenarioStep): [ControlName, unknown[]] {
  const { after: _, do: wanted, ...parameters } = step
  const name = actions.find((each) => each === wanted)
  if (name === undefined) {
    throw new WrongValueError([`"do" must be one of ${actions.join(', ')}, not '${wanted}'`])
  }
  return [name, namedArguments(name, parameters)]
}
