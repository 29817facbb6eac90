import { check, WrongValueError } from '../allowed.ts'
import type { SandboxControl } from './control.ts'
import { definitions, type ControlName, type Parameter } from './definitions.ts'

/** Makes every control function check its arguments by its definition before it does anything. */
export function checkedArguments(control: SandboxControl): SandboxControl {
  const guarded = Object.entries(control).map(([name, act]) => [
    name,
    (...given: unknown[]): unknown => {
      const { parameters } = definitions[name as ControlName]
      const problems = parameters.flatMap((parameter, index) => problemsOf(parameter, given[index]))
      if (problems.length > 0) throw new WrongValueError(problems)
      return (act as (...args: unknown[]) => unknown)(...given)
    },
  ])
  return Object.fromEntries(guarded)
}

function problemsOf({ name, schema }: Parameter<unknown>, given: unknown): readonly string[] {
  try {
    check(schema, given, name)
    return []
  } catch (error) {
    if (error instanceof WrongValueError) return error.problems
    throw error
  }
}
