// Long: needs workerd.
import { fileURLToPath } from 'node:url'

import { startSandbox, type Sandbox } from '@tokenlane/sandbox'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'

import type { Asked } from './workers/worker/calls.ts'
import { startWorkerd, type Worker } from './workers/workerd.ts'

// Each call is made by an incoming request of its own; all of them share one manager.

const path = 'records?size=1'
const soon = { interval: 5 }

let sandbox: Sandbox
let managers = 0
let manager: string

beforeAll(async () => {
  sandbox = await startSandbox({ records: 1 })
})
afterAll(() => sandbox.close())
beforeEach(() => {
  sandbox.control.restoreApi()
  sandbox.control.restoreIssuer()
  sandbox.control.setTokenLifetime(3_600_000)
  sandbox.control.resetCounts()
  manager = `manager-${(managers += 1)}`
})

const tokenRequests = (): number => sandbox.control.counts().issuers.general.requests

describe.each([
  ['the newest worker', '2026-11-17'],
  ['the oldest worker, whose requests wake one another in the wrong place', '2022-10-31'],
])('%s', (_, compatibilityDate) => {
  let workerd: Worker

  beforeAll(async () => {
    const worker = fileURLToPath(new URL('./workers/worker/calls.ts', import.meta.url))
    workerd = await startWorkerd({ worker, sandbox, compatibilityDate })
  })
  afterAll(() => workerd[Symbol.asyncDispose]())

  const ask = async (asked: Partial<Asked>): Promise<Response> =>
    fetch(workerd.origin, { method: 'POST', body: JSON.stringify({ manager, ...asked }) })
  const call = async (asked: Partial<Asked> = {}): Promise<unknown> => {
    const response = await ask({ path, ...asked })
    // of a worker that the runtime has ended
    if (!response.ok) return `status ${response.status}`
    return ((await response.json()) as { outcome: unknown }).outcome
  }

  test('50 first calls of 50 requests cost 1 token request', async () => {
    sandbox.control.slowIssuer('general', 100)
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => call()))
    expect(new Set(outcomes)).toEqual(new Set([200]))
    expect(tokenRequests()).toBe(1)
  })

  test('a request that began the renewal and gave up does not take the others with it', async () => {
    sandbox.control.slowIssuer('general', 500)
    const first = call({ ms: 100 })
    await vi.waitFor(() => expect(tokenRequests()).toBe(1), soon)
    const others = [call(), call(), call()]
    expect(await first).toMatch(/^TimeoutError/)
    expect(await Promise.all(others)).toEqual([200, 200, 200])
    expect(await call()).toBe(200)
  })

  test('a request that responds while it renews does not take the others with it', async () => {
    sandbox.control.slowIssuer('general', 500)
    const first = call({ leaveAfter: 100 })
    await vi.waitFor(() => expect(tokenRequests()).toBe(1), soon)
    const others = [call(), call(), call()]
    expect(await first).toBe('left')
    expect(await Promise.all(others)).toEqual([200, 200, 200])
    expect(tokenRequests()).toBeLessThanOrEqual(2)
  })

  test('a token that ages is renewed without a lost call, and no renewal is cut off', async () => {
    sandbox.control.setTokenLifetime(2_000)
    expect(await call({ renewBefore: 1_000 })).toBe(200)
    sandbox.control.slowIssuer('general', 100)
    while (tokenRequests() < 3) expect(await call()).toBe(200)
    await vi.waitFor(() => expect(sandbox.control.counts().issuers.general.issued).toBe(3), soon)
    expect(sandbox.control.counts().issuers.general.failed).toBe(0)
  })

  test('a rate policy is refused by name: isolates share no limit', async () => {
    const ratePolicy = { limits: [{ quota: 5, window: 500 }] }
    expect(await call({ ratePolicy })).toBe('RUNTIME_UNSUPPORTED')
    expect(tokenRequests()).toBe(0)
  })

  test('a revoked token costs 1 renewal, whichever requests meet it', async () => {
    expect(await call()).toBe(200)
    sandbox.control.revokeTokens('general')
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => call()))
    expect(new Set(outcomes)).toEqual(new Set([200]))
    expect(tokenRequests()).toBe(2)
  })
})
