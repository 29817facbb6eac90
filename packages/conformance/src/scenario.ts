import type { Driver, Feature } from './driver.ts'
import type { Stage } from './stage.ts'

/** What every adapter must do, whatever its client. */
export interface Scenario {
  /** A sentence with the edge; a row of the table. */
  readonly name: string
  run(stage: Stage): Promise<void>
  /** For a client that lacks one of these features its `instead` is run: nothing is skipped. */
  readonly needs?: Need | readonly Need[]
}

/** What a scenario takes for granted, and what a client without it is held to. */
interface Need {
  readonly feature: Feature
  instead(stage: Stage): Promise<void>
}

/** Scenarios of one subject. */
export interface ScenarioGroup {
  readonly subject: string
  readonly scenarios: readonly Scenario[]
}

/** Returns what a client is held to in a scenario: the scenario itself, or what happens instead. */
export function fit(
  scenario: Scenario,
  { limits }: Pick<Driver<unknown>, 'limits'>,
): Pick<Scenario, 'run'> & { limit?: string } {
  const needs = [scenario.needs ?? []].flat()
  const lacking = needs.find(({ feature }) => limits?.[feature] !== undefined)
  const limit = lacking && limits?.[lacking.feature]
  if (limit === undefined) return { run: (stage) => scenario.run(stage) }
  return { run: (stage) => lacking!.instead(stage), limit: `${limit.reason} ${limit.instead}` }
}
