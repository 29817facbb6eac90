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
    ...[{}, { ratePolicy: oneByOne }].flatMap((policy) => [
      tokenWait(
        `ends the wait for a slow issuer${kindOf(policy)}, whose renewal goes on`,
        async (stage, by) => {
          const renewed = Promise.withResolvers<void>()
          const { client } = stage.open({ ...policy, tokensCome: renewed.promise })
          const patient = client.status({ url: 'records' })
          const error = await client.failure({ url: 'records', ...by })
          renewed.resolve()
          expect(await patient).toBe(200)
          expect(stage.tokenRequests()).toBe(1)
          return { error, code: 'TOKEN_REQUEST_TIMEOUT' }
        },
      ),
      tokenWait(`ends the wait for an issuer that cannot be reached${kindOf(policy)}`, async (stage, by) => {
        const { client } = stage.open({ ...policy, unreachable: hostUnknown() })
        const error = await client.failure({ url: 'records', ...by })
        return { error, code: 'TOKEN_REQUEST_FAILED' }
      }),
    ]),
    {
      name: 'of a call that is aborted while it waits for a token changes nothing',
      needs: { feature: 'timeout', instead: abortsFirst },
      run: abortsFirst,
    },
    {
      name: 'that is longer than the wait for a token lets the call go',
      needs: { feature: 'timeout', instead: goesAfterToken },
      run: goesAfterToken,
    },
  ],
}

function kindOf(policy: object): string {
  return 'ratePolicy' in policy ? ' in a queue' : ''
}

function hostUnknown(): Error {
  const cause = Object.assign(new Error('getaddrinfo ENOTFOUND login.invalid'), { code: 'ENOTFOUND' })
  return new TypeError('fetch failed', { cause })
}

/** A call whose client's timeout ends its wait for a token, with the reason why there was none as `cause`. */
function tokenWait(
  name: string,
  play: (
    stage: Stage,
    by: { signal: AbortSignal } | { timeout: number },
  ) => Promise<{ error: unknown; code: string }>,
): Scenario {
  return {
    name,
    needs: {
      feature: 'tokenTimeout',
      async instead(stage) {
        const { error } = await play(stage, { signal: stage.signal(AbortSignal.timeout(timeout)) })
        const isClients = stage.errors.isAbort(error) || stage.errors.isTimeout(error)
        expect(isClients || (error as Error).name === 'TimeoutError').toBe(true)
      },
    },
    async run(stage) {
      const { error, code } = await play(stage, { timeout })
      mustBeTimeout(stage, error)
      expect((error as Error).cause).toMatchObject({ code, issuer: 'weblink' })
    },
  }
}

async function abortsFirst(stage: Stage): Promise<void> {
  const controller = stage.controller()
  const renewed = Promise.withResolvers<void>()
  const { client } = stage.open({ tokensCome: renewed.promise })
  const call = client.failure({ url: 'records', signal: controller.signal, timeout: 60_000 })
  await vi.waitFor(() => expect(stage.tokenRequests()).toBe(1), patiently)
  controller.abort()
  expect(stage.errors.isAbort(await call)).toBe(true)
  renewed.resolve()
}

async function goesAfterToken(stage: Stage): Promise<void> {
  const renewed = Promise.withResolvers<void>()
  const { client } = stage.open({ tokensCome: renewed.promise })
  const call = client.status({ url: 'records', timeout: 60_000 })
  await vi.waitFor(() => expect(stage.tokenRequests()).toBe(1), patiently)
  renewed.resolve()
  expect(await call).toBe(200)
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
