import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { FleetLimiter } from './fleet-limiter.ts'
import type { Request, Response } from './exchange.ts'
import { processRuntime } from './runtime.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)

const response = ({ wants }: Request, grants: readonly number[] = []): Response => ({
  epoch: 1,
  turn: 1,
  member: 1,
  clock: 0,
  wants: wants.map(() => ({ grants, wait: 100, soonest: 100, used: [0] })),
  words: [],
  counts: [0, 0],
  trips: [
    [0, 0, 0],
    [0, 0, 0],
  ],
  sharesFrom: 0,
  sharesUntil: 0,
})

/** A limiter whose requests wait until the test lets Redis respond to the last one. */
function limiterWithSlowRedis() {
  const sent: { request: Request; respond: (grants?: readonly number[]) => void }[] = []
  const reported: string[] = []
  const limiter = new FleetLimiter(
    {
      baseUrl: 'https://api.example.com/',
      unitsAvailable() {},
      heard() {},
      counted() {},
      failed: () => reported.push('failed'),
      recovered: () => reported.push('recovered'),
    },
    {
      exchange: (request) =>
        new Promise((resolve) =>
          sent.push({ request, respond: (grants) => resolve(response(request, grants)) }),
        ),
      name: 'process',
      fallbackShare: 1 / 8,
      timeout: 500,
      reconnectTime: 6_000,
      link: { errors: new Set(), isBypassed: false, bypass() {} },
      runtime: processRuntime,
    },
  )
  const limits = [{ series: '', quota: 25, window: 1_000 }]
  const claim = {
    key: '',
    cost: 1,
    limits,
    interval: 0,
    accounting: 'strict',
    unansweredGrace: undefined,
  } as const
  limiter.take(claim, 1)
  return { limiter, claim, sent, reported }
}

test('a failure is reported once, though a late response comes in between', async () => {
  const { sent, reported } = limiterWithSlowRedis()
  await pass(600)
  expect(reported).toEqual(['failed'])
  // it left before the process knew of the failure, so it does not end it
  sent.at(-1)?.respond()
  await pass(3_000)
  expect(sent.map(({ request }) => request.isAway)).toEqual([false, true])
  expect(reported).toEqual(['failed'])
  sent.at(-1)?.respond()
  await pass(0)
  // Redis responds, and does not know yet what was sent
  expect(reported).toEqual(['failed'])
  sent.at(-1)?.respond()
  await pass(0)
  expect(reported).toEqual(['failed', 'recovered'])
})

test.each(['before', 'after'])(
  'a unit is kept for the same limits in another array, given %s the response',
  async (when) => {
    const { limiter, claim, sent } = limiterWithSlowRedis()
    const again = structuredClone(claim)
    await pass(0)
    if (when === 'before') limiter.take(again, 1)
    sent[0]?.respond([0])
    await pass(1)
    expect(limiter.take(again, 1)).toBeTypeOf('object')
  },
)

test('a unit is given back when other limits hold', async () => {
  const { limiter, claim, sent } = limiterWithSlowRedis()
  await pass(0)
  sent[0]?.respond([0])
  await pass(1)
  expect(limiter.take({ ...claim, limits: [{ series: '', quota: 5, window: 1_000 }] }, 1)).toBe(Infinity)
})
