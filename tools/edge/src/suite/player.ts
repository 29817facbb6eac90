import type { Sandbox } from '@tokenlane/sandbox'

import { groups } from '../../../../packages/conformance/src/scenarios/index.ts'
import { surroundingsOf } from '../surroundings.ts'
import type { Asked } from './asked.ts'
import { openStageService } from './service.ts'

/** The scenarios of the conformance suite, to be played in a worker. */
export interface Player extends AsyncDisposable {
  /** Plays one, and returns why it does not hold, `undefined` if it does. */
  readonly play: (index: number) => Promise<string | undefined>
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
      if (!response.ok) return `the worker ended with status ${response.status}`
      return ((await response.json()) as { error?: string }).error
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

/** Plays everything that can be played. */
export async function playAll({ play }: Player, unplayed: readonly Unplayed[]): Promise<Played> {
  const differences: { scenario: string; because: string }[] = []
  const failures: string[] = []
  for (const [index, scenario] of scenarioNames.entries()) {
    const because = unplayed.find(({ scenarios }) => scenarios.test(scenario))?.because
    const failure = because === undefined ? await play(index) : undefined
    if (because !== undefined) differences.push({ scenario, because })
    if (failure !== undefined) failures.push(`${scenario}\n${failure}`)
  }
  const total = scenarioNames.length
  return { held: `${total - differences.length - failures.length} of ${total}`, differences, failures }
}
