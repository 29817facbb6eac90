import { afterEach, expect, test, vi } from 'vitest'
import type { StoreClaim, TokenStore } from '../../src/fleet.ts'
import { guardedStore } from '../../src/store/guarded-store.ts'
import { holderWait } from '../../src/store/holder-wait.ts'
import { Delay } from '../../src/time/delay.ts'
import { fakeService } from '../fake-issuer.ts'
import { FreezableTime } from '../../../../tools/testing/src/frozen-time.ts'
import { answer, apiOf } from '../one-api.ts'

// Processes that are frozen between two requests (Lambda, Cloud Run), suspended (a laptop) or whose event loop stands still.

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

const baseUrl = 'https://api.example.com/'
const frozen = 60_000

test("a client's timeout for the token does not run on", async () => {
  const time = new FreezableTime()
  const { tokens, issuer } = fakeService({ maxWait: 15_000 }, { apis: [{ baseUrl, issuer: 'general' }] })
  const response = Promise.withResolvers<Response>()
  issuer.respondOnceWith(() => response.promise)
  const tokenWait = { ms: 1_000, error: (cause: Error) => new Error('own timeout', { cause }) }
  const call = apiOf(tokens).send(async () => answer(200, 'sent'), { tokenWait })
  await time.pass(400)
  await time.freeze(frozen, () => response.resolve(issuer.token()))
  expect(await call).toBe('sent')
})

test('a policy that is set after the thaw leaves a queued call the time that it had left', async () => {
  const time = new FreezableTime()
  const ratePolicy = { limits: [], concurrency: 1, maxWait: 20_000 }
  const { tokens } = fakeService({}, { apis: [{ baseUrl, issuer: 'general', ratePolicy }] })
  await tokens.warmUp()
  const slow = Promise.withResolvers<string>()
  const first = apiOf(tokens).send(async () => answer(200, await slow.promise))
  const queued = apiOf(tokens).send(async () => answer(200, 'sent'))
  const lost = apiOf(tokens).send(async () => answer(200, await new Promise(() => {})))
  const last = apiOf(tokens).send(async () => answer(200, 'sent'))
  const outcome = last.catch(({ code }: { code: string }) => code)
  await time.pass(5_000)
  await time.freeze(frozen)
  tokens.setRatePolicy(baseUrl, ratePolicy)
  slow.resolve('slow')
  expect(await Promise.all([first, queued])).toEqual(['slow', 'sent'])
  lost.catch(() => {})
  await time.pass(14_000)
  expect(tokens.status().apis[0]).toMatchObject({ queued: 1 })
  await time.pass(2_000)
  expect(await outcome).toBe('QUEUE_TIMEOUT')
})

const storeOf = (methods: Partial<TokenStore>): ReturnType<typeof guardedStore> =>
  guardedStore(
    methods as TokenStore,
    Object.assign(() => {}, { isObserved: false, manager: {} }),
  )

test('a process that waits for the one that renews, without calls that need it, does not give up at the thaw', async () => {
  const time = new FreezableTime()
  const pause = async (ms: number): Promise<void> => new Delay(ms).over
  const look = holderWait(5_000, {
    held: undefined,
    needed: false,
    timeLeft: Infinity,
    accepts: () => true,
    pause,
  })
  const looking = look()
  await time.freeze(frozen)
  expect(await looking).toBe(true)
  const late = (async () => {
    while (await look());
    return time.now
  })()
  await time.pass(20_000)
  // 10 s, of which a second may be one in which it was frozen
  expect((await late) - frozen).toBeGreaterThan(8_000)
  expect((await late) - frozen).toBeLessThanOrEqual(10_000)
})

test('a right to renew whose time is over at the thaw is given back, and claimed again', async () => {
  const time = new FreezableTime()
  const claimed = Promise.withResolvers<StoreClaim>()
  const claims = [claimed.promise, Promise.resolve('locked' as const)]
  const released: string[] = []
  const store = storeOf({
    claim: () => claims.shift() as Promise<StoreClaim>,
    release: async (_name, fence) => released.push(fence),
  })
  const claim = store.claim('name', undefined, 5_000)
  await time.pass(100)
  await time.freeze(frozen, () => claimed.resolve({ fence: 'old' }))
  expect(await claim).toBe('locked')
  expect(released).toEqual(['old'])
})
