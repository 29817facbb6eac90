import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { FleetLimiter } from './fleet-limiter.ts'
import type { BudgetRequest, BudgetResponse } from './protocol.ts'
import { processRuntime } from './runtime.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)

const response: BudgetResponse = {
  epoch: 'one',
  turn: 1,
  member: 1,
  grants: [],
  wait: 100,
  soonest: 100,
  pause: 0,
  sharesFrom: 0,
  sharesUntil: 0,
  promise: 5_000,
  used: 0,
  left: 25,
  asks: false,
  roundTrips: [0, 0, 0],
  now: 0,
}

/** A limiter whose requests wait until the test lets Redis respond to the last one. */
function limiterWithSlowRedis() {
  const sent: { request: BudgetRequest; respond: () => void }[] = []
  const reported: string[] = []
  const limiter = new FleetLimiter(
    {
      baseUrl: 'https://api.example.com/',
      limits: [{ quota: 25, window: 1_000 }],
      spread: false,
      accounting: 'strict',
      unitsAvailable() {},
      paused() {},
      resumed() {},
      failed: () => reported.push('failed'),
      recovered: () => reported.push('recovered'),
    },
    {
      exchange: (request) =>
        new Promise((resolve) => sent.push({ request, respond: () => resolve(response) })),
      name: 'process',
      fallbackShare: 1 / 8,
      timeout: 500,
      reconnectTime: 6_000,
      link: { errors: new Set(), isBypassed: false, bypass() {} },
      runtime: processRuntime,
    },
  )
  limiter.take(1)
  return { sent, reported }
}

test('a failure is reported once, though a late response comes in between', async () => {
  const { sent, reported } = limiterWithSlowRedis()
  await pass(600)
  expect(reported).toEqual(['failed'])
  // it left before the process knew of the failure, so it does not end it
  sent.at(-1)?.respond()
  await pass(3_000)
  expect(sent.map(({ request }) => request.away)).toEqual([false, true])
  expect(reported).toEqual(['failed'])
  sent.at(-1)?.respond()
  await pass(0)
  // Redis responds, and does not know yet what was sent
  expect(reported).toEqual(['failed'])
  sent.at(-1)?.respond()
  await pass(0)
  expect(reported).toEqual(['failed', 'recovered'])
})
