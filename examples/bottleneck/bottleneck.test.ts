import { readFileSync } from 'node:fs'
import {
  createTokenManager,
  generalIssuer,
  type RatePolicy,
} from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'
import {
  openByEnvironment,
  openSandbox,
} from '@tokenlane/testing/example-service'
import Bottleneck from 'bottleneck'
import { expect, onTestFinished, test, vi } from 'vitest'

interface Reader {
  readRecord(id: string, urgent?: boolean): Promise<unknown>
  stop(): Promise<void>
}

/** Reads 40 records at once, and once more after the token was revoked. Returns how many were read each time. */
async function readAll(load: () => Promise<Reader>) {
  const sandbox = await openByEnvironment()
  // longer than it takes to begin ten calls
  sandbox.control.slowIssuer('general', 300)
  vi.resetModules()
  const { readRecord, stop } = await load()
  const read = async (): Promise<number> => {
    const ids = Array.from(
      { length: 40 },
      (_, index) => `INV-${String(index + 1).padStart(7, '0')}`,
    )
    const results = await Promise.allSettled(ids.map((id) => readRecord(id)))
    return results.filter(({ status }) => status === 'fulfilled').length
  }
  const first = await read()
  sandbox.control.revokeTokens('general')
  const second = await read()
  const { maxConcurrent } = sandbox.control.counts().apis.general
  const { requests } = sandbox.control.counts().issuers.general
  await stop()
  return { first, second, maxConcurrent, requests }
}

test('before: the first ten calls request tokens of their own, and a revoked token loses calls', async () => {
  const { first, second, requests } = await readAll(() => import('./before.ts'))
  expect({ first, second }).toEqual({ first: 40, second: 0 })
  expect(requests).toBeGreaterThan(1)
  expect(requests).toBeLessThanOrEqual(10)
})

test('after: one token for all of them, and a revoked token loses none', async () => {
  const { first, second, maxConcurrent, requests } = await readAll(
    () => import('./after.ts'),
  )
  expect({ first, second, requests }).toEqual({
    first: 40,
    second: 40,
    requests: 2,
  })
  expect(maxConcurrent).toBeLessThanOrEqual(10)
})

/** The same calls through bottleneck with its options, and through Tokenlane with a policy. */
async function openBoth(
  options: Bottleneck.ConstructorOptions,
  ratePolicy: RatePolicy,
) {
  const sandbox = await openSandbox()
  const tokens = createTokenManager({
    issuers: {
      general: generalIssuer({
        authUrl: sandbox.authUrl,
        credentials: sandbox.credentials.general,
      }),
    },
    apis: [{ baseUrl: sandbox.apiUrl, issuer: 'general', ratePolicy }],
  })
  onTestFinished(() => tokens.close())
  const fetchWithToken = createFetch(tokens)
  const { value } = await tokens.getToken('general')
  const limiter = new Bottleneck(options)
  const get = (path: string): Promise<Response> =>
    fetch(sandbox.apiUrl + path, {
      headers: { authorization: `Bearer ${value}` },
    })
  return {
    sandbox,
    tokens,
    limiter,
    url: sandbox.apiUrl,
    before: (path: string, job: Bottleneck.JobOptions = {}) =>
      limiter.schedule(job, () => get(path)),
    after: (path: string, priority = 0) =>
      fetchWithToken(sandbox.apiUrl + path, { tokenlane: { priority } }),
  }
}

const slow = 'slow?ms=30'

test('maxConcurrent is concurrency', async () => {
  const { sandbox, before, after } = await openBoth(
    { maxConcurrent: 3 },
    { limits: [], concurrency: 3 },
  )
  for (const call of [before, after]) {
    sandbox.control.resetCounts()
    await Promise.all(Array.from({ length: 9 }, () => call(slow)))
    expect(sandbox.control.counts().apis.general.maxConcurrent).toBe(3)
  }
})

test('highWater with Bottleneck.strategy.OVERFLOW is maxQueued', async () => {
  const { before, after } = await openBoth(
    { maxConcurrent: 1, highWater: 2, strategy: Bottleneck.strategy.OVERFLOW },
    { limits: [], concurrency: 1, maxQueued: 2 },
  )
  const dropped = async (
    call: (path: string) => Promise<Response>,
  ): Promise<unknown[]> => {
    const results = await Promise.allSettled(
      Array.from({ length: 5 }, () => call(slow)),
    )
    return results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason] : [],
    )
  }
  expect(await dropped(before)).toMatchObject([
    { message: 'This job has been dropped by Bottleneck' },
    { message: 'This job has been dropped by Bottleneck' },
  ])
  expect(await dropped(after)).toMatchObject([
    { code: 'QUEUE_FULL' },
    { code: 'QUEUE_FULL' },
  ])
})

test('a priority is the other way round: 0 goes first there, the highest here', async () => {
  const { before, after } = await openBoth(
    { maxConcurrent: 1 },
    { limits: [], concurrency: 1 },
  )
  const order = async (
    call: (path: string, urgent: boolean) => Promise<unknown>,
  ): Promise<number> => {
    const ended: boolean[] = []
    const calls = [false, false, false, true].map((urgent) =>
      call(slow, urgent).then(() => ended.push(urgent)),
    )
    await Promise.all(calls)
    return ended.indexOf(true)
  }
  expect(
    await order((path, urgent) => before(path, { priority: urgent ? 0 : 5 })),
  ).toBe(1)
  expect(await order((path, urgent) => after(path, urgent ? 1 : 0))).toBe(1)
})

test('updateSettings is setRatePolicy, counts is status, stop is close', async () => {
  const { sandbox, tokens, limiter, url, before, after } = await openBoth(
    { maxConcurrent: 1 },
    { limits: [], concurrency: 1 },
  )
  const waiting = [before, after].map((call) =>
    Promise.allSettled(Array.from({ length: 4 }, () => call('slow?ms=60000'))),
  )
  await vi.waitFor(() => {
    expect(limiter.counts()).toMatchObject({ EXECUTING: 1, QUEUED: 3 })
    expect(tokens.status().apis[0]).toMatchObject({ running: 1, queued: 3 })
  })
  limiter.updateSettings({ maxConcurrent: 2 })
  tokens.setRatePolicy(url, { limits: [], concurrency: 2 })
  await vi.waitFor(() => {
    expect(limiter.counts()).toMatchObject({ EXECUTING: 2, QUEUED: 2 })
    expect(tokens.status().apis[0]).toMatchObject({ running: 2, queued: 2 })
  })
  void limiter.stop({ dropWaitingJobs: true })
  void tokens.close()
  await vi.waitFor(() => {
    expect(limiter.counts().QUEUED).toBe(0)
    expect(tokens.status().apis[0]?.queued).toBe(0)
  })
  // ends the calls under way
  await sandbox.close()
  await Promise.all(waiting)
})

test('the page has every option of bottleneck', () => {
  const page = readFileSync(
    new URL('../../docs/guide/coming-from.md', import.meta.url),
    'utf8',
  )
  const prototype = Bottleneck.prototype as unknown as Readonly<
    Record<string, object>
  >
  const options = [
    'jobDefaults',
    'storeDefaults',
    'redisStoreDefaults',
    'instanceDefaults',
    'stopDefaults',
  ].flatMap((name) => Object.keys(prototype[name] ?? {}))
  expect(options.length).toBeGreaterThan(25)
  expect(options.filter((option) => !page.includes(`\`${option}\``))).toEqual(
    [],
  )
})
