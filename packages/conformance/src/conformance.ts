import tls from 'node:tls'

import { startSandbox, type Sandbox } from '@tokenlane/sandbox'
import { afterAll, afterEach, beforeAll, beforeEach, describe, test } from 'vitest'

import type { Driver } from './driver.ts'
import { fit } from './scenario.ts'
import { groups } from './scenarios/index.ts'
import { SandboxStage } from './sandbox-stage.ts'

/** For what hangs; a busy machine may take its time. */
const longest = 60_000

/** One cell of the conformance table. */
export interface ConformanceCell {
  readonly client: string
  readonly subject: string
  readonly scenario: string
  /** Why the client cannot do this, and what happens instead, which was tested; not set if it can. */
  readonly limit?: string
}

declare module 'vitest' {
  interface TaskMeta {
    conformance?: ConformanceCell
  }
}

/** Registers every scenario as a test of this client and its adapter. */
export function conformance<Client>(driver: Driver<Client>): void {
  let sandbox: Sandbox
  let stage: SandboxStage<Client>

  beforeAll(async () => {
    sandbox = await startSandbox({ records: 30 })
    // nothing else: on Deno every socket has a copy of all, and scenarios print responses with their sockets
    tls.setDefaultCACertificates([sandbox.ca])
  }, longest)
  afterAll(() => sandbox?.close())
  beforeEach(() => {
    stage = new SandboxStage(driver, sandbox)
  })
  afterEach(({ task }) => stage.end({ failed: task.result?.state === 'fail' }), longest)

  for (const { subject, scenarios } of groups)
    describe(subject, () => {
      for (const scenario of scenarios)
        test(scenario.name, { timeout: longest }, ({ task }) => {
          const { limit, run } = fit(scenario, driver)
          task.meta.conformance = {
            client: driver.name,
            subject,
            scenario: scenario.name,
            ...(limit && { limit }),
          }
          return run(stage)
        })
    })
}
