import { check, WrongValueError } from '../allowed.ts'
import { durationForm, times } from '../duration.ts'
import type { SandboxControl } from './sandbox-control.ts'
import { definitions, type ControlName, type Parameter } from './definitions.ts'

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
