import { expect, vi } from 'vitest'

import type { Scenario, ScenarioGroup } from '../scenario.ts'
import { oneByOne, patiently, type Stage } from '../stage.ts'
import type { TestClient } from '../test-client.ts'

const timeout = 200

export const timeouts: ScenarioGroup = {
  subject: "The client's own timeout",
  scenarios: [
    {
      name: "ends a slow attempt with the client's error, and releases the slot",
      needs: {
        feature: 'timeout',
        instead: (stage) => endsSlowCall(stage, { signal: stage.signal(AbortSignal.timeout(timeout)) }),
      },
      run: (stage) => endsSlowCall(stage, { timeout }),
    },
    waiting('does not count the time in the queue', async (stage) => {
      const { client } = stage.open({ ratePolicy: oneByOne })
      const held = await stage.hold(client)
      return { client, end: () => held.release() }
    }),
    waiting('does not count a slow issuer', async (stage) => {
      const renewed = Promise.withResolvers<void>()
      const { client } = stage.open({ tokensCome: renewed.promise })
      return { client, end: async () => renewed.resolve() }
    }),
  ],
}

async function endsSlowCall(stage: Stage, by: { signal: AbortSignal } | { timeout: number }): Promise<void> {
  const { client } = stage.open({ ratePolicy: oneByOne })
  mustBeTimeout(stage, await client.failure({ url: 'slow?ms=600000', ...by }))
  expect(await client.status({ url: 'records' })).toBe(200)
}

/** A call that has to wait, until `end` is called, for longer than its timeout. */
function waiting(
  name: string,
  open: (stage: Stage) => Promise<{ client: TestClient; end: () => Promise<void> }>,
): Scenario {
  return {
    name,
    needs: {
      feature: 'timeout',
      async instead(stage) {
        const { client, end } = await open(stage)
        const before = stage.calls()
        const signal = stage.signal(AbortSignal.timeout(timeout))
        mustBeTimeout(stage, await client.failure({ url: 'records', signal }))
        expect(stage.calls()).toBe(before)
        await end()
      },
    },
    async run(stage) {
      const { client, end } = await open(stage)
      const start = performance.now()
      const call = outcomeOf(client.status({ url: 'records', timeout }))
      await vi.waitFor(() => expect(performance.now() - start).toBeGreaterThan(1.5 * timeout), patiently)
      const ended = performance.now()
      await end()
      const { outcome, at } = await call
      if (outcome === 200) return
      // a machine may be so busy that the attempt itself takes too long; a timer may fire a little early
      mustBeTimeout(stage, outcome)
      expect(at - ended).toBeGreaterThan(timeout - 2)
    },
  }
}

async function outcomeOf(call: Promise<number>): Promise<{ outcome: unknown; at: number }> {
  const outcome = await call.catch((error: unknown) => error)
  return { outcome, at: performance.now() }
}

function mustBeTimeout({ errors }: Stage, error: unknown): void {
  expect(errors.isTimeout(error), `a timeout of the client's own, not ${String(error)}`).toBe(true)
}
