import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { acceptOnly, client, refusal, unavailable } from '../../test/fake-issuer.ts'
import {
  type Fleet,
  fleet as fleetOf,
  pass,
  restoreClock,
  soon,
  stopClock,
  tokensOf,
} from '../../test/fleet.ts'
import { sharedStore } from '../fleet.ts'
import { MemoryStore } from '../../test/memory-store.ts'
import type { IssuerSettings } from '../issuer/issuer-options.ts'
import type { Api } from '../send/api.ts'
import type { TokenManager } from '../manager/token-manager.ts'
import type { TokenStore } from './token-store.ts'

const start = Date.UTC(2026, 10, 21)
const second = 1_000
const minute = 60 * second
const hour = 60 * minute

beforeEach(() => stopClock(start))
afterEach(() => restoreClock())

const apiOf = (tokens: TokenManager): Api => tokens.route('https://api.example.com/') as Api

const hang = (): Promise<never> => new Promise(() => {})
const fail = (): never => {
  throw new Error('connection lost: GET secret')
}

describe('with a store', () => {
  const fleet = (size: number, settings: Partial<IssuerSettings> = {}): Fleet =>
    fleetOf(size, settings, new MemoryStore())

  /** A fleet with one process, which was refused with its secret: the issuer takes another one by now. */
  const refusedFleet = async (): Promise<Fleet> => {
    const joined = fleet(0)
    acceptOnly(joined.issuer, 'secret-2')
    await expect(soon(joined.join().tokens.getToken('general'))).rejects.toThrow('invalid_client')
    return joined
  }

  test('first calls of 8 processes cost one token request', async () => {
    const { issuer, processes } = fleet(8)
    issuer.respondOnceWith(() => issuer.after(200))
    expect(new Set(await soon(tokensOf(processes)))).toEqual(new Set(['token-1']))
    expect(issuer.count).toBe(1)
    const events = processes.flatMap((process) => process.events.map(({ type }) => type)).toSorted()
    expect(events).toEqual([...Array<string>(7).fill('token.received'), 'token.renewed'])
  })

  test('a fresh token never asks the store', async () => {
    const { store, processes } = fleet(2)
    await soon(tokensOf(processes))
    const { claims } = store
    store.before = fail
    await pass(30 * minute)
    for (let call = 0; call < 100; call += 1) await tokensOf(processes)
    expect(store.claims).toBe(claims)
  })

  test('one process renews ahead of expiry, and each of the others takes what it got when its own ages', async () => {
    const { issuer, processes } = fleet(8)
    await soon(tokensOf(processes))
    await pass(hour - 6 * minute - second)
    for (let age = 0; age < 4 * minute; age += 10 * second) {
      // never a call that waits
      for (const { tokens } of processes) await tokens.getToken('general')
      await pass(10 * second)
    }
    expect(new Set(await tokensOf(processes))).toEqual(new Set(['token-2']))
    expect(issuer.count).toBe(2)
    const reasons = processes.flatMap(({ eventsOf }) => eventsOf('token.renewed')).map(({ reason }) => reason)
    // which process was the first to ask is up to the threads that derive the keys
    expect(reasons.toSorted()).toEqual(['ahead', 'startup'])
  })

  test('a holder that dies is succeeded when its time is over, and no call is lost', async () => {
    const { issuer, processes } = fleet(3)
    issuer.respondOnceWith(() => hang())
    const [dead, ...others] = processes
    const lost = dead?.tokens.getToken('general')
    lost?.catch(() => {})
    await pass(0)
    // it stands still from here on, so nothing that it does later may count
    issuer.respondWith(() => issuer.token())
    expect(new Set(await soon(tokensOf(others)))).toEqual(new Set(['token-1']))
    expect(Date.now() - start).toBeLessThan(6 * second)
    expect(issuer.count).toBeLessThanOrEqual(3)
  })

  test('a late holder overwrites nothing', async () => {
    const { issuer, store, processes, join } = fleet(1)
    issuer.respondOnceWith(() => issuer.after(4_900))
    // so slow to write that its time is over
    store.before = (method) => (method === 'write' ? new Promise((end) => setTimeout(end, 900)) : undefined)
    const late = soon(tokensOf(processes))
    await pass(5_100)
    const successor = await soon(tokensOf([join()]))
    await late
    await pass(second)
    expect(await soon(tokensOf([join()]))).toEqual(successor)
  })

  test('a refused token is dropped for all, and a late refusal changes nothing', async () => {
    const { issuer, processes, join } = fleet(3)
    await soon(tokensOf(processes))
    issuer.respondOnceWith(() => issuer.after(100))
    const statuses = new Map([['Bearer token-1', 401]])
    const call = ({ tokens }: (typeof processes)[number]): Promise<number> =>
      apiOf(tokens).send(async (authorization) => {
        const status = statuses.get(authorization) ?? 200
        return { status, result: status, discard() {} }
      })
    const [first, second_, third] = processes as [
      (typeof processes)[0],
      (typeof processes)[0],
      (typeof processes)[0],
    ]
    expect(await soon(Promise.all([call(first), call(second_)]))).toEqual([200, 200])
    expect(issuer.count).toBe(2)
    // much later
    await pass(minute)
    expect(await soon(call(third))).toBe(200)
    expect(await soon(tokensOf([...processes, join()]))).toEqual(Array(4).fill('token-2'))
    expect(issuer.count).toBe(2)
  })

  test('a token that is too old to be of use is replaced, by one process', async () => {
    const { issuer, processes, join } = fleet(1)
    await soon(tokensOf(processes))
    await pass(hour - 5 * second)
    expect(new Set(await soon(tokensOf([join(), join(), ...processes])))).toEqual(new Set(['token-2']))
    expect(issuer.count).toBe(2)
  })

  test('a clock that is hours behind gives a token no more life than the store has left of it', async () => {
    const { processes, join } = fleet(1)
    await soon(tokensOf(processes))
    await pass(30 * minute)
    const behind = join()
    vi.setSystemTime(start - 5 * hour)
    const { expiresAt } = await soon(behind.tokens.getToken('general'))
    expect(expiresAt.getTime() - Date.now()).toBeLessThanOrEqual(30 * minute)
  })

  const faults: readonly [string, (method: keyof TokenStore) => unknown, string][] = [
    ['throws', fail, 'error'],
    ['hangs', hang, 'timeout'],
    ['does not keep what is written', (method) => (method === 'write' ? fail() : undefined), 'error'],
  ]

  test.each(faults)('a store that %s costs no call, and is reported once', async (_, fault, reason) => {
    const { issuer, store, processes } = fleet(2, { renewBefore: 0 })
    store.before = fault
    for (let life = 0; life < 3; life += 1) {
      expect(new Set(await soon(tokensOf(processes))).size).toBeGreaterThan(0)
      await pass(hour)
    }
    for (const { eventsOf } of processes) {
      expect(eventsOf('store.failed')).toEqual([{ type: 'store.failed', reason }])
      expect(eventsOf('store.recovered')).toEqual([])
      expect(eventsOf('renewal.failed')).toEqual([])
    }
    expect(issuer.count).toBeLessThanOrEqual(6)
    store.before = () => {}
    const before = issuer.count
    await soon(tokensOf(processes))
    await pass(0)
    expect(issuer.count).toBe(before + 1)
    for (const { eventsOf } of processes) expect(eventsOf('store.recovered')).toHaveLength(1)
  })

  test('a process that cannot write down its token holds up no other one (a full disk)', async () => {
    const { store, join } = fleet(0)
    store.before = (method) => (method === 'write' ? fail() : undefined)
    const at = Date.now()
    expect(await soon(tokensOf([join()]))).toEqual(['token-1'])
    await pass(0)
    expect(await soon(tokensOf([join()]))).toEqual(['token-2'])
    expect(Date.now()).toBe(at)
  })

  test('a store that hangs leaves time to ask the issuer, however short `maxWait` is', async () => {
    const { issuer, store, join } = fleet(0)
    store.before = hang
    issuer.respondWith(() => issuer.after(200))
    const { tokens } = join({ maxWait: second })
    expect((await soon(tokens.getToken('general'))).value).toBe('token-1')
  })

  test('a right that comes too late is given back', async () => {
    const { store, processes, join } = fleet(1)
    const { promise, resolve } = Promise.withResolvers<void>()
    store.before = () => promise
    await soon(tokensOf(processes))
    store.before = () => {}
    resolve()
    await pass(0)
    const at = Date.now()
    await soon(tokensOf([join()]))
    expect(Date.now()).toBe(at)
  })

  test.each(['garbage', '1.AAAA', '1.%%%', ''])('an entry %j is replaced', async (garbage) => {
    const { issuer, store, processes, join } = fleet(2)
    await soon(tokensOf([join()]))
    for (const [name, kept] of store.entries) store.entries.set(name, { ...kept, value: garbage })
    expect(new Set(await soon(tokensOf(processes)))).toEqual(new Set(['token-2']))
    await pass(0)
    // a late process finds it replaced
    const reported = processes.map(({ eventsOf }) => eventsOf('store.failed'))
    expect(reported).toContainEqual([{ type: 'store.failed', reason: 'unreadable' }])
    for (const events of reported) expect(events.length).toBeLessThanOrEqual(1)
    expect(await soon(tokensOf([join()]))).toEqual(['token-2'])
    expect(issuer.count).toBe(2)
  })

  test.each([
    undefined,
    null,
    7,
    'fence',
    {},
    { entry: 7 },
    { fence: 7 },
    { entry: 'same' },
    { entry: 'same', fence: undefined },
  ])('a store that always answers %j costs no call', async (answer) => {
    const { join, store } = fleet(0)
    store.claim = async () => answer as never
    const { tokens, eventsOf } = join()
    expect((await soon(tokens.getToken('general'))).value).toBe('token-1')
    expect(eventsOf('store.failed')).toHaveLength(1)
  })

  test('an entry that has no number of milliseconds left is not taken: its token would never expire', async () => {
    const { store, processes, join } = fleet(1)
    await soon(tokensOf(processes))
    const claim = store.claim.bind(store)
    store.claim = async (...given) => {
      const claimed = await claim(...given)
      return claimed !== 'locked' && 'entry' in claimed ? { ...claimed, expiresIn: Number.NaN } : claimed
    }
    const { tokens, eventsOf } = join()
    await soon(tokens.getToken('general'))
    expect(tokens.status().issuers['general']).toMatchObject({ expiresAt: expect.stringMatching(/Z$/) })
    expect(eventsOf('store.failed')).toMatchObject([{ reason: 'unreadable' }])
  })

  test('what is kept shows neither token nor secret, client or issuer', async () => {
    const { store, processes } = fleet(1)
    await soon(tokensOf(processes))
    expect(store.entries.size).toBe(1)
    const [{ tokens, events }] = processes as [(typeof processes)[0]]
    const status = JSON.stringify(tokens.status())
    for (const secret of ['token-1', client.clientSecret])
      expect(inspect([tokens, events, status], { depth: 12, showHidden: true })).not.toContain(secret)
    for (const shown of [inspect([...store.entries, ...store.locks], { depth: 12 })])
      for (const secret of ['token-1', client.clientSecret, client.clientId, 'example.com', 'general'])
        expect(shown).not.toContain(secret)
  })

  test('an entry that was moved to another name is not taken', async () => {
    const { issuer, store, processes, join } = fleet(1)
    await soon(tokensOf(processes))
    const other = join({ credentials: { clientId: 'client-2', clientSecret: client.clientSecret } })
    await soon(tokensOf([other]))
    const [[mine, kept], [theirs]] = [...store.entries] as [
      [string, { value: string; until: number }],
      [string, never],
    ]
    expect(mine).not.toBe(theirs)
    store.entries.set(theirs, kept)
    expect(
      await soon(tokensOf([join({ credentials: { clientId: 'client-2', clientSecret: 'secret-1' } })])),
    ).toEqual(['token-3'])
    expect(issuer.count).toBe(3)
  })

  test('after a rotation the old entries are misses, and old and new processes do not disturb each other', async () => {
    const { issuer, processes, join } = fleet(4)
    await soon(tokensOf(processes))
    const rotated = { credentials: { clientId: 'client-1', clientSecret: 'secret-2' } }
    expect(await soon(tokensOf([join(rotated), join(), join(rotated), join()]))).toEqual([
      'token-2',
      'token-1',
      'token-2',
      'token-1',
    ])
    expect(issuer.count).toBe(2)
  })

  test('a fleet whose first secret is not valid any more costs one refusal and one token', async () => {
    const { issuer, processes } = fleet(8, {
      credentials: [client, { clientId: 'client-1', clientSecret: 'secret-2' }],
    })
    acceptOnly(issuer, 'secret-2')
    expect(new Set(await soon(tokensOf(processes)))).toEqual(new Set(['token-1']))
    expect(issuer.count).toBe(2)
  })

  test('an issuer that is down is asked by the fleet no oftener than by one process', async () => {
    const { issuer, processes } = fleet(50)
    issuer.respondWith(() => unavailable())
    const outcome = Promise.allSettled(processes.map(({ tokens }) => tokens.getToken('general')))
    await pass(10 * second)
    expect(issuer.count).toBeLessThanOrEqual(40)
    issuer.respondWith(undefined)
    for (const { status } of await soon(outcome)) expect(status).toBe('fulfilled')
  })

  test('a refusal costs one request in 30 s once it has lasted, and every process hears it within a second', async () => {
    const { issuer, processes } = fleet(50)
    issuer.respondWith(() => issuer.after(200, () => refusal()))
    const refused = async (): Promise<void> => {
      const at = Date.now()
      const outcomes = await soon(
        Promise.allSettled(processes.map(({ tokens }) => tokens.getToken('general'))),
      )
      for (const outcome of outcomes)
        expect(outcome).toMatchObject({
          reason: { code: 'TOKEN_REQUEST_REFUSED', status: 401, oauthError: 'invalid_client' },
        })
      expect(Date.now() - at).toBeLessThan(1_200)
    }
    await refused()
    expect(issuer.count).toBe(1)
    // a new client that not all replicas know yet
    await pass(2 * second)
    await refused()
    expect(issuer.count).toBe(2)
    await pass(6 * second)
    await refused()
    await pass(28 * second)
    await refused()
    expect(issuer.count).toBe(3)
    await pass(2 * second)
    await refused()
    expect(issuer.count).toBe(4)
  })

  test.each([
    ['a minute', minute, 'refused'],
    ['six minutes', 6 * minute, 'token-1'],
  ])('a refusal that somebody puts back into the store %s later ends by itself', async (_, age, found) => {
    const { issuer, store, processes, join } = fleet(1)
    acceptOnly(issuer, 'secret-2')
    await soon(tokensOf(processes).catch(() => {}))
    const [[name, refused]] = [...store.entries] as [[string, { value: string; until: number }]]
    issuer.respondWith(undefined)
    await pass(age)
    store.entries.set(name, { ...refused, until: Infinity })
    // not after half a minute: clocks of processes may differ by minutes
    const { tokens } = join()
    const taken = tokens.getToken('general').then(
      ({ value }) => value,
      () => 'refused',
    )
    expect(await soon(taken)).toBe(found)
  })

  test('a changed secret is tried at once, though another process was refused with the old one', async () => {
    const { issuer, join } = await refusedFleet()
    const asked: string[] = []
    const { tokens } = join({
      credentials: ({ reason }) => {
        asked.push(reason)
        return reason === 'rejected' ? { ...client, clientSecret: 'secret-2' } : client
      },
    })
    expect((await soon(tokens.getToken('general'))).value).toBe('token-1')
    expect(asked).toEqual(['startup', 'rejected'])
    expect(issuer.count).toBe(2)
  })

  test('a process with a second secret uses it, though another process has only the refused one', async () => {
    const { issuer, join } = await refusedFleet()
    const credentials = [client, { ...client, clientSecret: 'secret-2' }]
    const rotating = [join({ credentials }), join({ credentials })]
    expect(await soon(tokensOf(rotating))).toEqual(['token-1', 'token-1'])
    expect(issuer.count).toBe(2)
  })

  test('a refused process that asks its provider again and again asks the store once', async () => {
    const { issuer, store, join } = fleet(0)
    issuer.respondWith(() => refusal())
    const { tokens } = join({ credentials: () => client })
    for (let call = 0; call < 20; call += 1) await soon(tokens.getToken('general').catch(() => {}))
    expect([issuer.count, store.claims]).toEqual([1, 1])
  })

  test('a new process is served the token that lives, though its renewal was refused', async () => {
    const { issuer, processes, join } = fleet(2)
    await soon(tokensOf(processes))
    issuer.respondWith(() => refusal())
    // due for both, however their margins were drawn
    await pass(57.5 * minute)
    expect(await soon(tokensOf(processes))).toEqual(['token-1', 'token-1'])
    await pass(second)
    const late = join()
    expect(await soon(tokensOf([late]))).toEqual(['token-1'])
    for (let call = 0; call < 5; call += 1) await soon(tokensOf([late, ...processes]))
    expect(issuer.count).toBe(2)
    await pass(4 * minute)
    await expect(soon(late.tokens.getToken('general'))).rejects.toMatchObject({
      code: 'TOKEN_REQUEST_REFUSED',
    })
  })

  test('without the store first calls of many processes reach the issuer over a second, not at once', async () => {
    const { issuer, store, processes } = fleet(200)
    store.before = hang
    const askedAt: number[] = []
    issuer.respondWith(() => {
      askedAt.push(Date.now())
      return issuer.token()
    })
    await soon(tokensOf(processes))
    expect(askedAt).toHaveLength(200)
    const within = (from: number): number => askedAt.filter((at) => at >= from && at < from + 100).length
    expect(Math.max(...askedAt.map(within))).toBeLessThan(60)
    expect(Math.max(...askedAt) - start).toBeLessThanOrEqual(2 * second)
  })

  test('the keys of a seal are derived once, not for every token', async () => {
    const { processes } = fleet(1)
    for (let life = 0; life < 5; life += 1) {
      await soon(tokensOf(processes))
      await pass(hour)
    }
    expect(globalThis.crypto.subtle.deriveKey).toHaveBeenCalledTimes(1)
  })

  test('a call that waits for a process without a token fails after `maxWait`', async () => {
    const { store, join } = fleet(0)
    store.claim = async () => 'locked'
    await expect(soon(join({ maxWait: 3 * second }).tokens.getToken('general'))).rejects.toMatchObject({
      code: 'TOKEN_REQUEST_TIMEOUT',
    })
    expect(Date.now() - start).toBeLessThanOrEqual(3 * second)
  })

  test('a call with a token that serves waits for another process no longer than two leases', async () => {
    const { store, processes } = fleet(1, { renewBefore: 0, requestTimeout: 2 * second })
    await soon(tokensOf(processes))
    store.claim = async () => 'locked'
    await pass(hour - 9 * second)
    const at = Date.now()
    expect(await soon(tokensOf(processes))).toEqual(['token-1'])
    expect(Date.now() - at).toBeLessThanOrEqual(4 * second)
  })

  test('a provider is asked whose token it is', async () => {
    const { issuer, join } = fleet(0)
    const credentials = vi.fn<() => typeof client>(() => client)
    expect(await soon(tokensOf([join({ credentials }), join({ credentials: () => [client] })]))).toEqual(
      Array(2).fill('token-1'),
    )
    expect(issuer.count).toBe(1)
    const broken = join({ credentials: () => Promise.reject(new Error('vault')) })
    await expect(soon(broken.tokens.getToken('general'))).rejects.toMatchObject({
      code: 'CREDENTIALS_UNAVAILABLE',
    })
  })

  test('a call that is aborted stops waiting for another process at once', async () => {
    const { store, join } = fleet(0)
    store.claim = async () => 'locked'
    const controller = new AbortController()
    const call = join().tokens.getToken('general', { signal: controller.signal })
    call.catch(() => {})
    await pass(100)
    controller.abort(new Error('enough'))
    await expect(call).rejects.toThrow('enough')
  })

  test('close ends the waiting for another process, and waits for what is being written', async () => {
    const { store, join } = fleet(0)
    const writing = Promise.withResolvers<void>()
    store.before = (method) => (method === 'write' ? writing.promise : undefined)
    const [writer, waiter] = [join().tokens, join().tokens]
    await soon(writer.getToken('general'))
    const call = waiter.getToken('general')
    call.catch(() => {})
    await pass(0)
    const { claims } = store
    await soon(waiter.close())
    expect(store.claims).toBe(claims)
    await expect(call).rejects.toMatchObject({ code: 'MANAGER_CLOSED' })
    const closing = { done: false }
    const closed = writer.close().then(() => (closing.done = true))
    await pass(0)
    expect(closing.done).toBe(false)
    writing.resolve()
    await soon(closed)
  })
})

test.each([200, 2_000, 4_500])(
  'behind a token request of %d ms, the others look at most every eighth of a second, and get the token soon',
  async (ms) => {
    const { issuer, store, processes } = fleetOf(50)
    issuer.respondWith(() => issuer.after(ms))
    const at: number[] = []
    const calls = processes.map(async ({ tokens }) => {
      await tokens.getToken('general')
      at.push(Date.now() - start)
    })
    await soon(Promise.all(calls))
    expect(issuer.count).toBe(1)
    expect(store.claims / processes.length).toBeLessThanOrEqual(6 + ms / 125)
    expect(Math.max(...at)).toBeLessThanOrEqual(ms + 300)
  },
)

const never = (): never => expect.fail('the store is not to be asked')

test.each([null, 7, 'redis', {}, { claim: never, write: never, release: never }])(
  'what is not a token store, such as %j, is refused',
  (store) => {
    expect(() => sharedStore(store as never)).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTIONS',
        message: expect.stringContaining('`store` is') as string,
      }),
    )
  },
)

test.each([null, 7, 'redis', {}])('a manager refuses %j as its store', (store) => {
  expect(() => fleetOf(0).join({}, { store: store as never })).toThrow(
    /^Cannot create token manager: `store` is .*; allowed: `redisTokenStore` from @tokenlane\/redis, or `sharedStore/,
  )
})

test('a token store that is given as it is is refused with the function that shares tokens by it', () => {
  const store = new MemoryStore()
  expect(() => fleetOf(0).join({}, { store: store as never })).toThrow(
    '`store` is an object; allowed: `redisTokenStore` from @tokenlane/redis, or `sharedStore` from @tokenlane/core/fleet',
  )
})

test('every process knows the scopes that the shared token lacks, and one of them says so', async () => {
  const { issuer, join } = fleetOf(0, { scope: 'records.read records.write' } as object)
  issuer.respondWith(() =>
    Response.json({ access_token: 'a', token_type: 'Bearer', expires_in: 3_600, scope: 'records.read' }),
  )
  const processes = [join(), join()]
  for (const { tokens } of processes) await soon(tokens.getToken('general'))
  expect(issuer.count).toBe(1)
  expect(processes.map(({ tokens }) => tokens.status().issuers['general']?.missingScopes)).toEqual([
    ['records.write'],
    ['records.write'],
  ])
  expect(processes.flatMap(({ eventsOf }) => eventsOf('scope.narrowed'))).toHaveLength(1)
})
