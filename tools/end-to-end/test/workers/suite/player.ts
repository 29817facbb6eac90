import type { Sandbox } from '@tokenlane/sandbox'

import { groups } from '../../../../../packages/conformance/src/scenarios/index.ts'
import { type Surroundings, surroundingsOf } from '../workerd.ts'
import { openStageService } from './service.ts'

/** The scenarios of the conformance suite, to be played in a worker. */
export interface Player extends AsyncDisposable {
  /** Plays one, and returns why it does not hold, `undefined` if it does. */
  readonly play: (index: number) => Promise<Failure | undefined>
}

/** Why a scenario does not hold. */
export interface Failure {
  readonly error: string
  /** Code of the error, if it has one. */
  readonly code?: string
}

/** Names of all scenarios. */
export const scenarioNames: readonly string[] = groups.flatMap(({ subject, scenarios }) =>
  scenarios.map(({ name }) => `${subject} ${name}`),
)

/** Plays in the worker that takes requests at `url`. */
export async function openPlayer(url: string, sandbox: Sandbox): Promise<Player> {
  const service = await openStageService(sandbox)
  return {
    async play(index) {
      const asked: Asked = { index, service: service.url, sandbox: surroundingsOf(sandbox) }
      const response = await fetch(url, { method: 'POST', body: JSON.stringify(asked) })
      if (!response.ok) return { error: `the worker ended with status ${response.status}` }
      const outcome = (await response.json()) as Partial<Failure>
      return outcome.error === undefined ? undefined : (outcome as Failure)
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}

/** Whether an edge runtime refuses what a scenario needs: a rate policy. */
export function isRefused(failure: Failure | undefined): boolean {
  return failure?.code === 'RUNTIME_UNSUPPORTED'
}

/** What a worker is asked to play, and where. */
export interface Asked {
  /** Of the scenario in the suite. */
  readonly index: number
  /** URL of the service of the stage. */
  readonly service: string
  readonly sandbox: Surroundings
}
