import { expect, vi } from 'vitest'

import type { Scenario, ScenarioGroup } from '../scenario.ts'
import { oneByOne, patiently, type Stage } from '../stage.ts'
import { errorKind } from '../driver.ts'

export const aborts: ScenarioGroup = {
  subject: 'An abort by the caller',
  scenarios: [
    {
      name: 'before the call: nothing is sent, and no token is requested',
      async run(stage) {
        const { client } = stage.open()
        const controller = stage.controller()
        controller.abort()
        const { signal } = controller
        const error = await client.failure({ url: 'records', signal })
        expect(stage.errors.isAbort(error), String(error)).toBe(true)
        expect([stage.calls(), stage.tokenRequests()]).toEqual([0, 0])
        // some clients tell this one from an abort in flight
        expect(errorKind(error)).toEqual(errorKind(await stage.bare().failure({ url: 'records', signal })))
      },
    },
    waiting(
      'in the queue ends the wait, sends nothing, and delays no call behind it',
      async (stage, mustBeOwn) => {
        const { tokens, client } = stage.open({ ratePolicy: oneByOne })
        const controller = stage.controller()
        const held = await stage.hold(client)
        const aborted = client.failure({ url: 'records', signal: controller.signal })
        const behind = client.status({ url: 'records' })
        await vi.waitFor(() => expect(queued(tokens)).toBe(2), patiently)
        controller.abort()
        await mustBeOwn(stage, await aborted)
        expect([stage.calls(), queued(tokens)]).toEqual([1, 1])
        await held.release()
        expect(await behind).toBe(200)
        expect(stage.calls()).toBe(2)
      },
    ),
    waiting("during a renewal ends only this call's wait, and sends nothing", async (stage, mustBeOwn) => {
      const renewed = Promise.withResolvers<void>()
      const { client } = stage.open({ tokensCome: renewed.promise })
      const controller = stage.controller()
      const aborted = client.failure({ url: 'records', signal: controller.signal })
      const other = client.status({ url: 'records', signal: stage.controller().signal })
      await vi.waitFor(() => expect(stage.tokenRequests()).toBe(1), patiently)
      controller.abort()
      await mustBeOwn(stage, await aborted)
      expect(stage.calls()).toBe(0)
      renewed.resolve()
      expect(await other).toBe(200)
      expect([stage.calls(), stage.tokenRequests()]).toEqual([1, 1])
    }),
    waiting('during the renewal after a 401: the call is not resent', async (stage, mustBeOwn) => {
      const controller = stage.controller()
      const { tokens, client } = stage.open({
        observe: ({ type }) => type === 'token.rejected' && controller.abort(),
      })
      await stage.revoke(tokens)
      const error = await client.failure({ url: 'records', signal: controller.signal })
      await mustBeOwn(stage, error)
      expect(stage.calls()).toBe(1)
    }),
    {
      name: "in flight ends the call with the client's own error, and releases its slot",
      async run(stage) {
        const { client } = stage.open({ ratePolicy: oneByOne })
        const controller = stage.controller()
        const aborted = client.failure({ url: 'slow?ms=600000', signal: controller.signal })
        await vi.waitFor(() => expect(stage.calls()).toBe(1), patiently)
        controller.abort()
        await mustBeOwnInFlight(stage, await aborted)
        expect(await client.status({ url: 'records' })).toBe(200)
      },
    },
    {
      name: 'that never happens leaves no listener on a signal that many calls share',
      async run(stage) {
        const { tokens, client } = stage.open({ ratePolicy: { ...oneByOne, maxWait: 60_000 } })
        const { signal } = stage.controller()
        await stage.revoke(tokens)
        const calls = [1, 2, 3, 4].map((page) => client.status({ url: `records?page=${page}`, signal }))
        expect(await Promise.all(calls)).toEqual([200, 200, 200, 200])
      },
    },
  ],
}

/** A call that is aborted while it waits: as in flight, or as unsent if the bare client tells these two apart. */
function waiting(
  name: string,
  run: (stage: Stage, mustBeOwn: (stage: Stage, error: unknown) => Promise<void>) => Promise<void>,
): Scenario {
  return {
    name,
    needs: { feature: 'oneAbort', instead: (stage) => run(stage, mustBeOwnUnsent) },
    run: (stage) => run(stage, mustBeOwnInFlight),
  }
}

/** As the bare client rejects when it is aborted in flight. */
async function mustBeOwnInFlight(stage: Stage, error: unknown): Promise<void> {
  const server = await stage.scripted(() => new Promise(() => {}))
  await mustBeOwnAbort(stage, error, {
    url: server.url,
    moment: () => vi.waitFor(() => expect(server.requests.length).toBe(1), patiently),
  })
}

/** As the bare client rejects when it is aborted in the turn that the call is made in. */
async function mustBeOwnUnsent(stage: Stage, error: unknown): Promise<void> {
  const { url, requests } = await stage.scripted()
  await mustBeOwnAbort(stage, error, { url })
  expect(requests.length).toBe(0)
}

async function mustBeOwnAbort(
  stage: Stage,
  error: unknown,
  { url, moment }: { readonly url: string; readonly moment?: () => Promise<unknown> },
): Promise<void> {
  expect(stage.errors.isAbort(error), `an abort of the client's own, not ${String(error)}`).toBe(true)
  const controller = stage.controller()
  const aborted = stage.bare().failure({ url, signal: controller.signal })
  if (moment !== undefined) await moment()
  controller.abort()
  expect(errorKind(error)).toEqual(errorKind(await aborted))
}

function queued(tokens: { status(): { apis: readonly { queued?: number }[] } }): number {
  return tokens.status().apis.reduce((sum, api) => sum + (api.queued ?? 0), 0)
}
