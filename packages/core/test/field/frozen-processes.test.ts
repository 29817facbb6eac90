import { afterEach, expect, test, vi } from 'vitest'
import { discardBody } from '../../src/client/discard-body.ts'
import type { StoreClaim, TokenStore } from '../../src/fleet.ts'
import type { IssuerSettings, RatePolicy } from '../../src/index.ts'
import { guardedStore } from '../../src/store/guarded-store.ts'
import { holderWait } from '../../src/store/holder-wait.ts'
import { Delay } from '../../src/time/delay.ts'
import { fakeService, unavailable } from '../fake-issuer.ts'
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

const serviceWith = (ratePolicy: RatePolicy, settings = {}): ReturnType<typeof fakeService> =>
  fakeService(settings, { apis: [{ baseUrl, issuer: 'general', ratePolicy }] })

const limited = answer(429, 'refused', { retryAfter: '2' })
const sent = answer(200, 'sent')

test.each([600, 8_000, frozen, 3_600_000])(
  'a refused call that is frozen for %d ms before it is sent again may be refused for as long as before',
  async (ms) => {
    const time = new FreezableTime()
    const { tokens } = serviceWith({ limits: [], maxWait: 8_000 })
    await tokens.warmUp()
    const answers = [limited, limited, sent]
    const call = apiOf(tokens).send(async () => answers.shift() ?? sent)
    await time.pass(500)
    await time.freeze(ms)
    await time.pass(5_000)
    expect(await call).toBe('sent')
  },
)

test('a refused call whose next response arrives while the process is frozen is sent once more', async () => {
  const time = new FreezableTime()
  const { tokens } = serviceWith({ limits: [], maxWait: 8_000 })
  await tokens.warmUp()
  const second = Promise.withResolvers<typeof limited>()
  const answers = [limited, second.promise, sent]
  const call = apiOf(tokens).send(async () => answers.shift() ?? sent)
  await time.pass(2_500)
  await time.freeze(frozen, () => second.resolve(limited))
  await time.pass(2_500)
  expect(await call).toBe('sent')
})

test('a refused call that ran out of `maxWait` while the process ran gets its 429, frozen before or not', async () => {
  for (const ms of [0, frozen]) {
    const time = new FreezableTime()
    const { tokens } = serviceWith({ limits: [], maxWait: 8_000 })
    await tokens.warmUp()
    let sends = 0
    const call = apiOf(tokens).send(async () => {
      sends += 1
      return limited
    })
    await time.pass(500)
    if (ms > 0) await time.freeze(ms)
    await time.pass(20_000)
    expect(await call).toBe('refused')
    // at 0, 2, 4 and 6 s
    expect(sends).toBeGreaterThanOrEqual(4)
    expect(sends).toBeLessThanOrEqual(5)
  }
})

test('the others wait for the response to the trial call for as long as the process runs', async () => {
  for (const arrives of [true, false]) {
    const time = new FreezableTime()
    const { tokens } = serviceWith({ limits: [] })
    await tokens.warmUp()
    const trial = Promise.withResolvers<typeof sent>()
    const answers = [limited, trial.promise]
    let sends = 0
    const call = (): Promise<string> =>
      apiOf(tokens).send(async () => {
        sends += 1
        return answers.shift() ?? sent
      })
    const first = call()
    await time.pass(100)
    const others = [call(), call()]
    await time.pass(3_000)
    expect(sends).toBe(2)
    await time.freeze(frozen)
    // they would be refused if the API is still busy
    expect(sends).toBe(2)
    await time.pass(1_000)
    expect(sends).toBe(2)
    if (arrives) trial.resolve(sent)
    await time.pass(arrives ? 10 : 3_500)
    expect(await Promise.all(others)).toEqual(['sent', 'sent'])
    expect(sends).toBe(4)
    trial.resolve(sent)
    await first
  }
})

test('close cuts off no call whose response has arrived while the process was frozen', async () => {
  const time = new FreezableTime()
  const { tokens } = fakeService()
  await tokens.warmUp()
  const response = Promise.withResolvers<typeof sent>()
  const call = apiOf(tokens).send(() => response.promise)
  const closing = tokens.close({ timeout: 10_000 })
  await time.pass(1_000)
  await time.freeze(frozen, () => response.resolve(sent))
  expect(await call).toBe('sent')
  expect(await closing).toEqual({ calls: 0, tokenRequests: 0 })
})

test("a client's timeout for the token counts no frozen time for a call that waits for its turn, too", async () => {
  const time = new FreezableTime()
  const { tokens, issuer } = serviceWith({ limits: [], concurrency: 1 })
  const response = Promise.withResolvers<Response>()
  issuer.respondOnceWith(() => response.promise)
  const tokenWait = { ms: 1_000, error: (cause: Error) => new Error('own timeout', { cause }) }
  const slow = Promise.withResolvers<typeof sent>()
  const first = apiOf(tokens).send(() => slow.promise)
  const second = apiOf(tokens).send(async () => sent, { tokenWait })
  await time.pass(400)
  await time.freeze(frozen, () => response.resolve(issuer.token()))
  // its turn comes later than its time for the token would have been over
  await time.pass(3_000)
  slow.resolve(sent)
  expect(await Promise.all([first, second])).toEqual(['sent', 'sent'])
})

test('the connection of an unwanted response that arrives while the process is frozen is kept', async () => {
  const time = new FreezableTime()
  let isCancelled = false
  let arrive = (): void => {}
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      arrive = () => {
        controller.enqueue(new Uint8Array(8))
        controller.close()
      }
    },
    cancel: () => void (isCancelled = true),
  })
  const discarded = discardBody(body)
  await time.pass(100)
  await time.freeze(frozen, arrive)
  expect(await discarded).toHaveLength(1)
  expect(isCancelled).toBe(false)
})

type Service = ReturnType<typeof fakeService>
interface Waiting {
  readonly policy?: RatePolicy
  readonly settings?: Partial<IssuerSettings>
  readonly answers?: (typeof sent)[]
  /** Brings the service into the state in which the call is to wait; returns what is there at the thaw. */
  readonly before?: (service: Service, time: FreezableTime) => Promise<(() => void) | void>
  /** The most token requests. */
  readonly requests: number
}

const waiting: Record<string, Waiting> = {
  'for the first token': {
    async before({ issuer }) {
      const response = Promise.withResolvers<Response>()
      issuer.respondOnceWith(() => response.promise)
      return () => response.resolve(issuer.token())
    },
    requests: 2,
  },
  'between two tries': {
    before: async ({ issuer }) => void issuer.respondOnceWith(() => unavailable()),
    requests: 3,
  },
  'for the end of the issuer’s Retry-After': {
    before: async ({ issuer }) => void issuer.respondOnceWith(() => unavailable('1')),
    requests: 3,
  },
  'for the moment that the issuer’s Retry-After names': {
    before: async ({ issuer }) =>
      void issuer.respondOnceWith(() => unavailable(new Date(Date.now() + 1_000).toUTCString())),
    requests: 3,
  },
  'for the issuer’s own rate policy': {
    settings: { ratePolicy: { limits: [{ quota: 1, window: 1_000 }] } },
    async before({ tokens }) {
      await tokens.warmUp()
      tokens.invalidate('general')
    },
    requests: 3,
  },
  'beside a renewal in the background': {
    settings: { renewBefore: 600_000 },
    async before({ tokens, issuer }, time) {
      await tokens.warmUp()
      await time.pass(3_100_000)
      const response = Promise.withResolvers<Response>()
      issuer.respondOnceWith(() => response.promise)
      await tokens.getToken('general')
      return () => response.resolve(issuer.token())
    },
    requests: 3,
  },
  'for a unit of its limit': {
    policy: { limits: [{ quota: 1, window: 2_000 }], maxWait: 5_000 },
    before: async ({ tokens }) => void (await apiOf(tokens).send(async () => sent)),
    requests: 2,
  },
  'for the next minute of the calendar': {
    policy: { limits: [{ quota: 1, window: 'minute' }], maxWait: 100_000 },
    before: async ({ tokens }) => void (await apiOf(tokens).send(async () => sent)),
    requests: 2,
  },
  'for a slot': {
    policy: { limits: [], concurrency: 1, maxWait: 5_000 },
    async before({ tokens }) {
      await tokens.warmUp()
      const slow = Promise.withResolvers<typeof sent>()
      void apiOf(tokens).send(() => slow.promise)
      return () => slow.resolve(sent)
    },
    requests: 2,
  },
  'for the end of a pause': {
    policy: { limits: [], maxWait: 5_000 },
    before: ({ tokens }) => tokens.warmUp(),
    answers: [limited, limited, sent],
    requests: 2,
  },
  'for the moment that a Retry-After names': {
    policy: { limits: [], maxWait: 5_000, limitedStatuses: [429, 503] },
    before: ({ tokens }) => tokens.warmUp(),
    answers: [answer(503, 'busy', { retryAfter: new Date(Date.UTC(2026, 10, 21, 0, 0, 2)).toUTCString() })],
    requests: 2,
  },
  'for the renewal after a 401': {
    // the second in a second
    async before({ tokens }) {
      await tokens.warmUp()
      const first = [sent, answer(401, 'refused')]
      for (let calls = 0; calls < 2; calls += 1) await apiOf(tokens).send(async () => first.shift() ?? sent)
    },
    answers: [answer(401, 'refused')],
    requests: 4,
  },
}

const hour = 3_600_000
const jumps: Record<string, (time: FreezableTime, arrived?: () => void) => Promise<void>> = {
  'is frozen for a minute': (time, arrived) => time.freeze(frozen, arrived),
  'is frozen for an hour': (time, arrived) => time.freeze(hour, arrived),
  'has its clock set forward': async (time, arrived) => {
    time.suspend(5 * hour)
    arrived?.()
  },
  'has its clock set back': async (time, arrived) => {
    time.suspend(-5 * hour)
    arrived?.()
  },
  'got the time only now': async (time, arrived) => {
    time.suspend(56 * 365 * 24 * hour)
    arrived?.()
  },
}

let issuers = 0

test.each(
  Object.entries(waiting).flatMap(([where, state]) =>
    Object.entries(jumps).map(([what, jump]) => [where, what, state, jump] as const),
  ),
)('no call is lost that waits %s while its process %s', async (_where, _what, state, jump) => {
  const time = new FreezableTime()
  const { policy, settings, before, requests } = state
  const answers = [...(state.answers ?? [])]
  const service = fakeService(
    // an issuer of its own: the units of one are the process's, whose clock begins anew
    { maxWait: 3_000, authUrl: `https://auth-${(issuers += 1)}.example.com`, ...settings },
    { apis: [{ baseUrl, issuer: 'general', ...(policy && { ratePolicy: policy }) }] },
  )
  const arrived = await before?.(service, time)
  const call = apiOf(service.tokens).send(async () => answers.shift() ?? sent)
  await time.pass(100)
  await jump(time, arrived ?? undefined)
  await time.pass(65_000)
  expect(await call).toBe('sent')
  const next = apiOf(service.tokens).send(async () => sent)
  await time.pass(65_000)
  expect(await next).toBe('sent')
  expect(service.issuer.count).toBeLessThanOrEqual(requests)
})
