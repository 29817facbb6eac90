import * as v from 'valibot'

import { object, time, type Allowed } from '../allowed.ts'

/**
 * One thing that happens: a control function with its named parameters, for example
 * `{ "after": "5s", "do": "killIssuer", "issuer": "weblink", "for": "20s" }`.
 */
export interface ScenarioStep {
  /** When, counted from the start of the scenario: milliseconds, or a text such as `"5s"`. */
  after: number | string
  /** Name of the control function. */
  do: string
  /** Parameters of the function. Times may be texts such as `"20s"`. */
  [parameter: string]: unknown
}

/** What happens to the service, and when. */
export interface Scenario {
  steps: readonly ScenarioStep[]
}

export const scenario: Allowed<Scenario> = object<Scenario>({
  steps: v.array(
    object<{ after: number | string; do: string }>(
      { after: time(), do: v.string('the name of a control function') },
      true,
    ) as Allowed<ScenarioStep>,
    'an array of steps',
  ),
})

export interface Happening {
  /** When, in milliseconds from the start. */
  at: number
  act: () => void
}

/** Plays one scenario at a time: runs each step at its time. A new scenario ends the one before. */
export class Player {
  #timers: NodeJS.Timeout[] = []
  #progress: { done: number; of: number } | undefined

  play(happenings: readonly Happening[]): void {
    this.stop()
    const progress = (this.#progress = { done: 0, of: happenings.length })
    this.#timers = happenings.map(({ at, act }) =>
      setTimeout(() => {
        progress.done += 1
        act()
      }, at).unref(),
    )
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#progress = undefined
  }

  progress(): { done: number; of: number } | null {
    return this.#progress === undefined ? null : { ...this.#progress }
  }
}
