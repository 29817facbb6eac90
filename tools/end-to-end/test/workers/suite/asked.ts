import type { Surroundings } from '../surroundings.ts'

/** What a worker is asked to play, and where. */
export interface Asked {
  /** Of the scenario in the suite. */
  readonly index: number
  /** URL of the service of the stage. */
  readonly service: string
  readonly sandbox: Surroundings
}
