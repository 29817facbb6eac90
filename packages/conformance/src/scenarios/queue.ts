import type { TokenlaneEvent } from '@tokenlane/core'
import { expect, vi } from 'vitest'

import type { ScenarioRequest } from '../driver.ts'
import type { ScenarioGroup } from '../scenario.ts'
import { oneByOne, patiently, type Stage } from '../stage.ts'

export const queue: ScenarioGroup = {
  subject: 'The queue of an API with a rate policy',
  scenarios: [
    {
      name: 'sends calls with a higher `priority` first, and calls with the same priority in order',
      needs: {
        feature: 'callOptions',
        instead: (stage) => servesInOrder(stage, ['a', 'b', 'low', 'high']),
      },
      run: (stage) => servesInOrder(stage, ['high', 'a', 'b', 'low']),
    },
    {
      name: 'pauses after a 429 for as long as Retry-After says, and sends the call again',
      needs: { feature: 'body: string', instead: (stage) => pausesAfter429(stage, { url: 'records' }) },
      async run(stage) {
        const body = { kind: 'string', value: 'again' } as const
        await pausesAfter429(stage, { url: 'echo', method: 'POST', body })
      },
    },
    {
      name: 'is the only thing that keeps a 429 from the caller: without a policy, the 429 goes straight to the caller',
      async run(stage) {
        const { client } = stage.open()
        stage.sandbox.control.failApi('weblink', { status: 429, retryAfter: 600, times: 1 })
        expect(await client.status({ url: 'records' })).toBe(429)
        expect(stage.calls()).toBe(1)
      },
    },
    ...(['has begun', 'is about to begin'] as const).map((when) => ({
      name: `gives a call its 429 if the manager closes as the pause after it ${when}`,
      run: (stage: Stage) => closesAfter429(stage, when),
    })),
    {
      name: 'fails a call at whose response a function of the policy throws, and sends the next one',
      async run(stage) {
        let responses = 0
        const isLimited = (): boolean => {
          responses += 1
          if (responses === 1) throw new Error('a fault of its own')
          return false
        }
        const { client } = stage.open({ ratePolicy: { limits: [], concurrency: 1, isLimited } })
        const [failed, next] = [client.failure({ url: 'records' }), client.status({ url: 'records' })]
        expect(String(await failed)).toContain('a fault of its own')
        expect(await next).toBe(200)
        expect(stage.calls()).toBe(2)
      },
    },
    {
      name: 'sends no more calls at once than `concurrency` allows',
      async run(stage) {
        let [now, most] = [0, 0]
        const api = await stage.scripted(async () => {
          most = Math.max(most, (now += 1))
          // meanwhile one more would come, if it might
          await fetch(stage.sandbox.weblinkUrl)
          now -= 1
          return { status: 200 }
        })
        const ratePolicy = { limits: [], concurrency: 2 }
        const { client } = stage.open({ apis: [{ baseUrl: api.url, ratePolicy }] })
        const calls = Array.from({ length: 8 }, (_, page) => client.status({ url: `${api.url}${page}` }))
        expect(new Set(await Promise.all(calls))).toEqual(new Set([200]))
        expect(most).toBe(2)
      },
    },
  ],
}

async function servesInOrder(stage: Stage, expected: readonly string[]): Promise<void> {
  const { tokens, client } = stage.open({ ratePolicy: oneByOne })
  await tokens.getToken('weblink')
  const held = await stage.hold(client)
  const order: string[] = []
  const call = async (name: string, priority?: number): Promise<void> => {
    await client.send({ url: 'records', ...(priority !== undefined && { tokenlane: { priority } }) })
    order.push(name)
  }
  const calls: Promise<void>[] = []
  for (const [name, priority] of [['a'], ['b'], ['low', -1], ['high', 5]] as const) {
    calls.push(call(name, priority))
    const waiting = calls.length
    await vi.waitFor(() => expect(tokens.status().apis[1]!.queued).toBe(waiting), patiently)
  }
  await held.release()
  await Promise.all(calls)
  expect(order).toEqual(expected)
}

async function pausesAfter429(stage: Stage, call: ScenarioRequest): Promise<void> {
  const pauses: TokenlaneEvent[] = []
  const { client } = stage.open({
    ratePolicy: { limits: [{ quota: 100, window: 1_000 }] },
    observe: (event) => event.type === 'api.paused' && pauses.push(event),
  })
  stage.sandbox.control.failApi('weblink', { status: 429, retryAfter: 1, times: 1 })
  const start = performance.now()
  expect(await client.status(call)).toBe(200)
  // a timer may fire a little early
  expect(performance.now() - start).toBeGreaterThan(990)
  expect(pauses).toMatchObject([{ for: 1_000, status: 429 }])
  expect(stage.calls()).toBe(2)
}

async function closesAfter429(stage: Stage, when: 'has begun' | 'is about to begin'): Promise<void> {
  const paused = Promise.withResolvers<void>()
  const { tokens, client } = stage.open({
    ratePolicy: { limits: [] },
    observe: ({ type }) => type === 'api.paused' && paused.resolve(),
  })
  stage.sandbox.control.failApi('weblink', { status: 429, retryAfter: 600, times: 1 })
  const call = client.status({ url: 'records' })
  await paused.promise
  if (when === 'has begun') await vi.waitFor(() => expect(tokens.status().apis[1]?.queued).toBe(1), patiently)
  await tokens.close()
  expect(await call).toBe(429)
  expect(stage.calls()).toBe(1)
}
