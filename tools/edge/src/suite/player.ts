import type { Sandbox } from '@tokenlane/sandbox'

import { groups } from '../../../../packages/conformance/src/scenarios/index.ts'
import { surroundingsOf } from '../surroundings.ts'
import type { Asked } from './asked.ts'
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

/** Scenarios that cannot be played, and why: a sentence. */
export interface Unplayed {
  readonly scenarios: RegExp
  readonly because: string
}

/** Names of all scenarios, as other runtimes report them. */
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

/** What became of all scenarios. */
interface Played {
  /** How many hold, of how many. */
  readonly held: string
  readonly differences: readonly { readonly scenario: string; readonly because: string }[]
  /** Those that should hold, and why they do not. */
  readonly failures: readonly string[]
}

/** Whether an edge runtime refuses what a scenario needs: a rate policy. */
export function isRefused(failure: Failure | undefined): boolean {
  return failure?.code === 'RUNTIME_UNSUPPORTED'
}

/** Plays everything that can be played. */
export async function playAll({ play }: Player, unplayed: readonly Unplayed[]): Promise<Played> {
  const differences: { scenario: string; because: string }[] = []
  const failures: string[] = []
  for (const [index, scenario] of scenarioNames.entries()) {
    const unplayable = unplayed.find(({ scenarios }) => scenarios.test(scenario))?.because
    const failure = unplayable === undefined ? await play(index) : undefined
    const because = isRefused(failure)
      ? 'These scenarios give the API a rate policy, which Tokenlane refuses on this runtime:'
      : unplayable
    if (because !== undefined) differences.push({ scenario, because })
    else if (failure !== undefined) failures.push(`${scenario}\n${failure.error}`)
  }
  const total = scenarioNames.length
  return { held: `${total - differences.length - failures.length} of ${total}`, differences, failures }
}
