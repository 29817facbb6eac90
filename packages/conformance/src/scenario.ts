import type { Feature } from './driver.ts'
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
