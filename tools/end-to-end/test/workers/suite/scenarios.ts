import type { TokenlaneFetch } from '@tokenlane/fetch'

import type { Driver } from '../../../../../packages/conformance/src/driver.ts'
import { fit } from '../../../../../packages/conformance/src/scenario.ts'
import { groups } from '../../../../../packages/conformance/src/scenarios/index.ts'
import { SandboxStage } from '../../../../../packages/conformance/src/sandbox-stage.ts'
import { driver } from '../../../../../packages/fetch/test/driver.ts'
import type { Asked } from './player.ts'
import { useService } from './remote.ts'
import { RemoteSandbox } from './sandbox.ts'

const inWorker: Driver<TokenlaneFetch> = {
  ...driver,
  errors: {
    ...driver.errors,
    isNetwork: (error) => driver.errors.isNetwork(error) || isNetworkOfWorkerd(error),
  },
  limits: {
    ...driver.limits,
    heardResponses: { reason: 'workerd publishes no responses.', instead: 'Nothing is said.' },
  },
}

function isNetworkOfWorkerd(error: unknown): boolean {
  return error instanceof Error && /connection (?:lost|refused)/i.test(error.message)
}

const scenarios = groups.flatMap((group) => group.scenarios)

/** Plays the scenario at `index` of the suite. */
export async function play({ index, service, sandbox: surroundings }: Asked): Promise<void> {
  useService(service)
  const sandbox = await RemoteSandbox.open()
  globalThis.fetch = sandbox.fetch
  const stage = new SandboxStage(inWorker, sandbox.seen(surroundings))
  let failed = true
  try {
    await fit(scenarios[index]!, inWorker).run(stage)
    failed = false
  } finally {
    await stage.end({ failed })
  }
}
