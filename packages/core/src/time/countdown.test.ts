import { afterEach, expect, test, vi } from 'vitest'
import { FreezableTime } from '../../../../tools/testing/src/frozen-time.ts'
import { fakeService, unavailable } from '../../test/fake-issuer.ts'
import { Countdown, withTimeLimit } from './countdown.ts'

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

test.each([1, 50, 999, 5_000, 60_000, 3_600_000])(
  '%d ms are over after that time, and not before',
  async (ms) => {
    const time = new FreezableTime()
    const act = vi.fn<() => void>()
    const countdown = new Countdown(ms, act)
    await time.pass(ms - 1)
    expect(countdown.left).toBe(1)
    expect(act).not.toHaveBeenCalled()
    await time.pass(1)
    expect(act).toHaveBeenCalledOnce()
    expect(countdown.left).toBeLessThanOrEqual(0)
  },
)

test('time in which the process is frozen does not count, however often and wherever in a step', async () => {
  const time = new FreezableTime()
  const act = vi.fn<() => void>()
  const countdown = new Countdown(5_000, act)
  for (const ran of [0, 249, 1_000, 130]) {
    await time.pass(ran)
    await time.freeze(60_000)
  }
  // what passed since the last look before each freeze does not count either
  expect(countdown.left).toBeGreaterThanOrEqual(5_000 - 1_379)
  expect(countdown.left).toBeLessThan(5_000)
  await time.pass(countdown.left - 1)
  expect(act).not.toHaveBeenCalled()
  await time.pass(250)
  expect(act).toHaveBeenCalledOnce()
})

test('what is left is right at the thaw, before any timer has fired', () => {
  const time = new FreezableTime()
  const countdown = new Countdown(5_000)
  expect(time.now).toBe(0)
  vi.mocked(performance.now).mockReturnValue(80_000)
  expect(countdown.left).toBe(4_750)
})

test('a loop that is only late loses nothing: 500 ms count, 501 ms do not', async () => {
  for (const [late, left] of [
    [500, 4_250],
    [501, 5_000],
  ] as const) {
    const time = new FreezableTime()
    const countdown = new Countdown(5_000)
    await time.freeze(250 + late)
    expect(countdown.left).toBe(left)
  }
})

test('timers that tests advance while the clock stands still end a countdown', async () => {
  const act = vi.fn<() => void>()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const countdown = new Countdown(5_000, act)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(act).toHaveBeenCalledOnce()
  countdown.stop()
  vi.useRealTimers()
})

test('the signal of a step aborts when its time is over, and says how much that was', async () => {
  const time = new FreezableTime()
  const step = withTimeLimit(
    1_000,
    (signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error))
      }),
  )
  const failed = expect(step).rejects.toMatchObject({ name: 'TimeoutError', message: '1000 ms' })
  await time.pass(1_000)
  await failed
})

/** Freezes a service while its first call waits, in one state of the renewal; the issuer is well at the thaw. */
const states: Record<
  string,
  (service: ReturnType<typeof fakeService>, time: FreezableTime) => Promise<() => void>
> = {
  async 'for the response of the issuer'({ issuer }, time) {
    const response = Promise.withResolvers<Response>()
    issuer.respondOnceWith(() => response.promise)
    await time.pass(400)
    return () => response.resolve(issuer.token())
  },
  async 'between two tries'({ issuer }, time) {
    issuer.respondOnceWith(() => unavailable())
    await time.pass(10)
    return () => {}
  },
  async 'for the end of a Retry-After'({ issuer }, time) {
    issuer.respondOnceWith(() => unavailable('1'))
    await time.pass(10)
    return () => {}
  },
}

test.each(Object.entries(states))(
  'a process that is frozen for longer than `maxWait` while a call waits %s loses no call',
  async (_, state) => {
    for (const frozen of [600, 8_000, 3_600_000]) {
      const time = new FreezableTime()
      const service = fakeService({ maxWait: 3_000 })
      const call = service.tokens.getToken('general')
      const outcome = call.then(
        ({ value }) => value,
        (error: Error) => error.message,
      )
      const arrived = await state(service, time)
      await time.freeze(frozen, arrived)
      await time.pass(1_000)
      expect(await outcome).toMatch(/^token-/)
    }
  },
)

test('credentials that are on their way when the process is frozen are used', async () => {
  const time = new FreezableTime()
  const credentials = Promise.withResolvers<{ clientId: string; clientSecret: string }>()
  const { tokens } = fakeService({ maxWait: 3_000, credentials: () => credentials.promise })
  const call = tokens.getToken('general')
  await time.pass(100)
  await time.freeze(8_000, () => credentials.resolve({ clientId: 'me', clientSecret: 'secret-1' }))
  await time.pass(0)
  expect((await call).value).toBe('token-1')
})

test('a call that comes at the thaw waits with those before it', async () => {
  const time = new FreezableTime()
  const { tokens, issuer } = fakeService({ maxWait: 3_000 })
  const response = Promise.withResolvers<Response>()
  issuer.respondOnceWith(() => response.promise)
  const first = tokens.getToken('general')
  await time.pass(500)
  let late: Promise<unknown> | undefined
  await time.freeze(8_000, () => {
    late = tokens.getToken('general')
  })
  await time.pass(200)
  response.resolve(issuer.token())
  expect([(await first).value, await late]).toMatchObject(['token-1', { value: 'token-1' }])
  expect(issuer.count).toBe(1)
})
