import { fileURLToPath } from 'node:url'

import { startSandbox } from '@tokenlane/sandbox'

import { groups } from '../../../../packages/conformance/src/scenarios/index.ts'
import { startWorkerd } from '../workerd.ts'
import { openStageService } from './service.ts'

/** The scenarios of the conformance suite, to be played in workerd. */
export interface Suite extends AsyncDisposable {
  /** Plays one, and returns why it does not hold, `undefined` if it does. */
  play(index: number): Promise<string | undefined>
}

/** Names of all scenarios, as other runtimes report them. */
export const scenarioNames: readonly string[] = groups.flatMap(({ subject, scenarios }) =>
  scenarios.map(({ name }) => `${subject} ${name}`),
)

/** What cannot be played, and why. */
export const unplayed: readonly { readonly scenarios: RegExp; readonly because: string }[] = [
  {
    scenarios: /calls that are provoked/,
    because: 'The last one opens servers that speak no HTTP, which a Worker cannot do.',
  },
]

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** Starts sandbox and worker. `packagesOf` is a folder in which the packages to be tested are installed. */
export async function openSuite(packagesOf?: string): Promise<Suite> {
  const sandbox = await startSandbox({ records: 30 })
  const service = await openStageService(sandbox)
  const worker = await startWorkerd({
    worker: here('../worker/suite.ts'),
    sandbox,
    bundle: {
      packagesOf,
      instead: { '/scripted-api.ts': here('scripted-api.ts'), '/listeners.ts': here('listeners.ts') },
    },
  })
  return {
    async play(index) {
      const body = JSON.stringify({ index, service: service.url })
      const response = await fetch(worker.origin, { method: 'POST', body })
      if (!response.ok) return `the worker ended with status ${response.status}`
      return ((await response.json()) as { error?: string }).error
    },
    async [Symbol.asyncDispose]() {
      await worker[Symbol.asyncDispose]()
      await service[Symbol.asyncDispose]()
      await sandbox.close()
    },
  }
}
