import { FreezableTime } from '@tokenlane/testing/frozen-time'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { FleetLimiter } from './fleet-limiter.ts'
import type { Request, Response } from './exchange.ts'
import { processRuntime } from './runtime.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)

const response = ({ wants }: Request, grants: readonly number[] = [], sharesUntil = 0): Response => ({
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
  sharesUntil,
})

/** A limiter whose requests wait until the test lets Redis respond to the last one. */
function limiterWithSlowRedis() {
  const sent: {
    request: Request
    respond: (...said: readonly [grants?: readonly number[], sharesUntil?: number]) => void
  }[] = []
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
          sent.push({ request, respond: (...said) => resolve(response(request, ...said)) }),
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

describe('a machine that was suspended', () => {
  beforeEach(() => vi.useRealTimers())

  const ways: Readonly<Record<string, (time: FreezableTime, ms: number) => unknown>> = {
    'while the wall clock alone went on': (time, ms) => time.suspend(ms),
    'while both clocks went on': (time, ms) => time.freeze(ms),
  }

  describe.each(Object.entries(ways))('%s', (_, suspend) => {
    test.each([60, 10_000])('%d ms after a grant: the unit is given back unused', async (ms) => {
      const time = new FreezableTime()
      const { limiter, claim, sent } = limiterWithSlowRedis()
      await time.pass(0)
      sent[0]?.respond([0])
      await time.pass(1)
      await suspend(time, ms)
      expect(limiter.take(claim, 1)).toBeTypeOf('number')
      await time.pass(25)
      expect(sent[1]?.request.units).toEqual([[2, 'process.1.1.1+0']])
    })

    test('for 5 s while Redis granted a unit: it may be counted as another one by now', async () => {
      const time = new FreezableTime()
      const { limiter, claim, sent } = limiterWithSlowRedis()
      await time.pass(100)
      await suspend(time, 5_000)
      sent[0]?.respond([0])
      await time.pass(1)
      expect(limiter.take(claim, 1)).toBeTypeOf('number')
    })

    test('for 2 s while Redis granted a unit: it is used', async () => {
      const time = new FreezableTime()
      const { limiter, claim, sent } = limiterWithSlowRedis()
      await time.pass(100)
      await suspend(time, 2_000)
      sent[0]?.respond([0])
      await time.pass(1)
      expect(limiter.take(claim, 1)).toBeTypeOf('object')
    })

    test('until all processes had returned after an outage: it sends no share any more', async () => {
      const time = new FreezableTime()
      const { limiter, claim, sent } = limiterWithSlowRedis()
      await time.pass(0)
      sent[0]?.respond([], 6_000)
      await time.pass(1)
      expect(limiter.take(claim, 1)).toBeTypeOf('object')
      await suspend(time, 10_000)
      expect(limiter.take(claim, 1)).toBeTypeOf('number')
    })
  })
})
