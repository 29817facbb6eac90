import { expect, vi } from 'vitest'

import type { ScenarioGroup } from '../scenario.ts'
import { oneByOne, patiently, type Stage } from '../stage.ts'

/** Long enough for one exchange on a busy machine, and shorter than the wait before it. */
const timeout = 1_000
const wait = 1_200

export const timeouts: ScenarioGroup = {
  subject: "The client's own timeout",
  scenarios: [
    {
      name: 'ends a slow attempt with its own error, and its slot comes free',
      needs: { feature: 'timeout', instead: signalEndsSlowCall },
      async run(stage) {
        const { client } = stage.open({ ratePolicy: oneByOne })
        const error = await client.failure({ url: 'slow?ms=600000', timeout: 100 })
        expect(stage.errors.isTimeout(error), String(error)).toBe(true)
        expect(await client.status({ url: 'records' })).toBe(200)
      },
    },
    {
      name: 'does not count the time in the queue',
      needs: {
        feature: 'timeout',
        async instead(stage) {
          const { client } = stage.open({ ratePolicy: oneByOne })
          const held = await stage.hold(client)
          const signal = stage.signal(AbortSignal.timeout(50))
          const error = await client.failure({ url: 'records', signal })
          expect(stage.errors.isTimeout(error), String(error)).toBe(true)
          expect(stage.calls()).toBe(1)
          await held.release()
        },
      },
      async run(stage) {
        const { client } = stage.open({ ratePolicy: oneByOne })
        const before = client.status({ url: `slow?ms=${wait}` })
        await vi.waitFor(() => expect(stage.calls()).toBe(1), patiently)
        expect(await client.status({ url: 'records', timeout })).toBe(200)
        expect(await before).toBe(200)
      },
    },
    {
      name: 'does not count a slow issuer',
      needs: {
        feature: 'timeout',
        async instead(stage) {
          const { client } = stage.open()
          stage.sandbox.control.slowIssuer('weblink', 300)
          const signal = stage.signal(AbortSignal.timeout(50))
          const error = await client.failure({ url: 'records', signal })
          expect(stage.errors.isTimeout(error), String(error)).toBe(true)
          expect(stage.calls()).toBe(0)
        },
      },
      async run(stage) {
        const { client } = stage.open()
        stage.sandbox.control.slowIssuer('weblink', wait)
        expect(await client.status({ url: 'records', timeout })).toBe(200)
      },
    },
  ],
}

async function signalEndsSlowCall(stage: Stage): Promise<void> {
  const { client } = stage.open({ ratePolicy: oneByOne })
  const signal = stage.signal(AbortSignal.timeout(100))
  const error = await client.failure({ url: 'slow?ms=600000', signal })
  expect(stage.errors.isTimeout(error), String(error)).toBe(true)
  expect(await client.status({ url: 'records' })).toBe(200)
}
