import type { LimitedApi } from '@tokenlane/core/fleet'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fleetPolicy } from '../src/limiter/fleet-policy.ts'
import * as scripts from '../src/scripts.ts'
import { Link } from '../src/limiter/link.ts'
import { type BudgetResponse, createExchange, type BudgetRequest } from '../src/limiter/protocol.ts'
import { useRedis } from './support/use-redis.ts'

// The script runs in a real Redis, on a clock of ours: a fleet's hour takes a second.

const redis = useRedis()

/** On the virtual clock, in milliseconds. */
let now = 0
let events: { at: number; run: () => unknown }[] = []
let fleets = 0

function later(after: number, run: () => unknown): void {
  const at = now + after
  const index = events.findIndex((event) => event.at > at)
  events.splice(index === -1 ? events.length : index, 0, { at, run })
}

async function pass(until: number): Promise<void> {
  for (let event = events.shift(); event !== undefined && event.at <= until; event = events.shift()) {
    now = event.at
    await event.run()
  }
}

const text = scripts.limiter.text.replace(
  "redis.call('TIME')",
  "{ 0, tonumber(string.match(KEYS[5], '%d+')) }",
)
const client = {
  evalSha: (_: string, options: { keys: string[]; arguments: string[] }) => client.eval('', options),
  eval: (_: string, options: { keys: string[]; arguments: string[] }) =>
    redis.client.eval(text, { ...options, keys: [...options.keys, String(Math.round(now * 1_000))] }),
}

interface Network {
  /** How long each request of a process travels, and its answer; and whether Redis' word is lost. */
  readonly there: number
  readonly back: number
  readonly lost: boolean
}

interface Member {
  readonly sends: number[]
  /** Units that Redis gave it, also where the answer was lost. */
  granted: number
  dead: boolean
}

let processes = 0

/** Says what a process says to Redis, and keeps what it must remember. */
function createProcess({ baseUrl, limits, spread }: Pick<LimitedApi, 'baseUrl' | 'limits' | 'spread'>) {
  const name = `process ${(processes += 1)}`
  const exchange = createExchange(new Link(client), 'test', baseUrl, name)
  const known = { number: 0, epoch: '', turn: 0, member: 0 }
  return async (said: Partial<BudgetRequest>): Promise<BudgetResponse> => {
    known.number += 1
    const answer = await exchange({
      policy: fleetPolicy(limits, spread),
      process: name,
      ...known,
      alone: 0,
      away: false,
      refused: false,
      units: limits.map(() => []),
      wanted: 0,
      warm: said.wanted ?? 0,
      gather: 0,
      promise: 5_000,
      lag: 0,
      times: [],
      roundTrips: [0, 0, 0],
      reported: [],
      pause: 0,
      resume: false,
      ...said,
    })
    if (answer === 'stale') throw new Error('stale')
    Object.assign(known, { epoch: answer.epoch, turn: answer.turn, member: answer.member })
    return answer
  }
}

/** A process that always has more calls than it may send. */
function join(api: LimitedApi, arrivals: number[], networks: readonly Network[]): Member {
  const say = createProcess(api)
  const member: Member = { sends: [], granted: 0, dead: false }
  let held = 0
  let turns = 0
  let answered: number[] = []
  const network = (): Network => networks[turns++ % networks.length] as Network

  const send = (): void => {
    if (member.dead) return
    const { there, back } = network()
    member.sends.push(now)
    later(there, () => arrivals.push(now))
    later(there + back, () => {
      held -= 1
      answered.push(now)
    })
  }
  const ask = (): void => {
    if (member.dead) return
    answered = answered.filter((at) => at > now - 5_000)
    const units = [
      [-5_000, held] as [number, number],
      ...answered.map((at): [number, number] => [now - at, 1]),
    ]
    const { there, back, lost } = network()
    later(there / 10, async () => {
      const { grants, wait } = await say({ units: api.limits.map(() => units), wanted: 30 })
      for (const [, count] of grants) member.granted += count
      if (lost) later(100, ask)
      else
        later(back / 10, () => {
          if (member.dead) return
          for (const [due, count] of grants)
            for (let unit = 0; unit < count; unit += 1) {
              held += 1
              later(due, send)
            }
          later(Math.max(1, Math.min(wait, 250)), ask)
        })
    })
  }
  ask()
  return member
}

const policies = fc.record({
  limits: fc.array(
    fc.record({ quota: fc.integer({ min: 1, max: 12 }), window: fc.integer({ min: 50, max: 2_000 }) }),
    { minLength: 1, maxLength: 2 },
  ),
  spread: fc.boolean(),
})
const networks = fc.array(
  fc.record({
    there: fc.nat(100),
    back: fc.nat(100),
    lost: fc.constantFrom(false, false, false, false, true),
  }),
  { minLength: 5, maxLength: 20 },
)

test('whatever the policy, the network and who dies: no window of the server holds more than the quota', async () => {
  await fc.assert(
    fc.asyncProperty(policies, networks, fc.integer({ min: 1, max: 4 }), async (policy, travels, size) => {
      fleets += 1
      events = []
      now = 1_000_000 * fleets
      const nothing = (): void => {}
      const hooks = {
        unitsAvailable: nothing,
        paused: nothing,
        resumed: nothing,
        failed: nothing,
        recovered: nothing,
      }
      const api: LimitedApi = { baseUrl: `fleet ${fleets}`, accounting: 'strict', ...policy, ...hooks }
      const arrivals: number[] = []
      const members = Array.from({ length: size }, () => join(api, arrivals, travels))
      later(5_000, () => {
        if (size > 1) (members[0] as Member).dead = true
      })
      await pass(now + 60_000)
      arrivals.sort((a, b) => a - b)
      for (const { quota, window } of policy.limits)
        for (const [index, at] of arrivals.slice(quota).entries())
          expect(at - (arrivals[index] ?? 0)).toBeGreaterThan(window)
      // in a minute everybody that lives has its turn, even if bad luck loses it each time
      for (const { granted } of members.slice(1)) expect(granted).toBeGreaterThan(0)
    }),
    { numRuns: process.env['TESTS'] === 'all' ? 12 : 3 },
  )
}, 60_000)

test('processes that always have calls get the same', async () => {
  fleets += 1
  events = []
  now = 1_000_000 * fleets
  const nothing = (): void => {}
  const hooks = {
    unitsAvailable: nothing,
    paused: nothing,
    resumed: nothing,
    failed: nothing,
    recovered: nothing,
  }
  const limits = [{ quota: 25, window: 1_000 }]
  const api: LimitedApi = { baseUrl: 'fair', accounting: 'strict', limits, spread: false, ...hooks }
  const travels = [20, 60, 100, 40, 80].map((there) => ({ there, back: 120 - there, lost: false }))
  const members = Array.from({ length: 8 }, () => join(api, [], travels))
  await pass(now + 60_000)
  const calls = members.map(({ sends }) => sends.length)
  expect(Math.max(...calls) / Math.min(...calls)).toBeLessThan(1.05)
  // without the first second, in which whoever comes first may have taken all
  // what the window and the mean round trip allow, but for the first second
  const total = calls.reduce((sum, each) => sum + each, 0)
  expect(total).toBeGreaterThan(0.95 * ((25 * 59_000) / 1_120))
}, 60_000)

test('after an outage of little more than a short window nobody gets a unit before all could tell', async () => {
  fleets += 1
  now = 1_000_000 * fleets
  const nothing = (): void => {}
  const hooks = {
    unitsAvailable: nothing,
    paused: nothing,
    resumed: nothing,
    failed: nothing,
    recovered: nothing,
  }
  const limits = [{ quota: 20, window: 300 }]
  const api: LimitedApi = {
    baseUrl: `outage ${fleets}`,
    accounting: 'strict',
    limits,
    spread: false,
    ...hooks,
  }
  const [one, two] = [createProcess(api), createProcess(api)]
  await one({})
  await two({})
  now += 7_000
  // both have kept to their own shares for the last seconds
  await one({ alone: 6_500 })
  now += 1
  expect(await one({ wanted: 20 })).toMatchObject({ grants: [] })
  now += 5_000
  expect(await one({ wanted: 20 })).toMatchObject({ grants: [] })
  await two({ alone: 11_000, units: [[[50, 10]]] })
  now += 1_100
  expect(await one({ wanted: 20 })).toMatchObject({ grants: [[0, 20]] })
})

test('after an outage each process sends its share until all have returned', async () => {
  fleets += 1
  now = 1_000_000 * fleets
  const api = { baseUrl: `gone ${fleets}`, limits: [{ quota: 20, window: 300 }], spread: false }
  const [one, two, three] = [createProcess(api), createProcess(api), createProcess(api)]
  for (const each of [one, two, three]) await each({})
  now += 500
  expect(await one({ wanted: 5 })).toMatchObject({ grants: [], sharesUntil: 0 })
  now += 300
  expect(await one({ wanted: 5 })).toMatchObject({ grants: [[0, 5]], sharesUntil: 0 })
  now += 899
  // not long enough for anybody to take it for an outage
  expect(await two({ refused: true })).toMatchObject({ sharesUntil: 0 })
  now += 900
  const first = await two({ refused: true, alone: 700, away: true })
  expect(first).toMatchObject({ sharesFrom: 0, sharesUntil: 6_000 })
  // one that has not noticed hears of it too, and gets nothing
  now += 1_000
  expect(await three({ wanted: 5 })).toMatchObject({ grants: [], sharesUntil: 5_000 })
  now += 4_999
  expect(await three({ wanted: 5 })).toMatchObject({ grants: [], sharesUntil: 1 })
  now += 1
  expect(await three({ wanted: 5 })).toMatchObject({ grants: [[0, 5]], sharesUntil: 0 })
})

test('messages of processes that are away do not end a silence: their answers may be lost', async () => {
  fleets += 1
  now = 1_000_000 * fleets
  const api = { baseUrl: `no answers ${fleets}`, limits: [{ quota: 20, window: 300 }], spread: false }
  const [one, two] = [createProcess(api), createProcess(api)]
  await one({})
  await two({})
  now += 4_000
  await one({ alone: 3_500, away: true })
  now += 4_000
  await two({ alone: 7_500, away: true })
  now += 100
  // this process is back, and what the other one sent by its share is not known
  expect(await one({ alone: 7_600, wanted: 20 })).toMatchObject({ grants: [] })
})

test('a process that rejoins alone while others were heard holds nobody up', async () => {
  fleets += 1
  now = 1_000_000 * fleets
  const api = { baseUrl: `cut off ${fleets}`, limits: [{ quota: 20, window: 300 }], spread: false }
  const [one, two] = [createProcess(api), createProcess(api)]
  await one({})
  await two({})
  now += 2_000
  await two({})
  now += 2_000
  await one({ alone: 3_500 })
  expect(await two({ wanted: 20 })).toMatchObject({ grants: [[0, 20]] })
})

test('keys that are lost on a server that runs on cost one window, also for a process that is new', async () => {
  fleets += 1
  now = 1_000_000 * fleets
  const api = { baseUrl: `flushed ${fleets}`, limits: [{ quota: 180, window: 60_000 }], spread: false }
  const one = createProcess(api)
  await one({ wanted: 180 })
  now += 62_000
  expect(await one({ wanted: 180 })).toMatchObject({ grants: [[0, 180]] })
  await redis.client.flushAll()
  const stranger = createProcess(api)
  expect((await stranger({ wanted: 180 })).grants).toEqual([])
  now += 60_000
  expect((await stranger({ wanted: 180 })).grants).toEqual([])
  now += 2_000
  expect((await stranger({ wanted: 180 })).grants).toEqual([[0, 180]])
})

test.each([600_000, 1e18, Infinity])(
  'a pause of %d ms is known to whoever asks after a long silence',
  async (pause) => {
    fleets += 1
    now = 1_000_000 * fleets
    const nothing = (): void => {}
    const hooks = {
      unitsAvailable: nothing,
      paused: nothing,
      resumed: nothing,
      failed: nothing,
      recovered: nothing,
    }
    const api: LimitedApi = {
      baseUrl: `pause ${fleets}`,
      accounting: 'strict',
      limits: [{ quota: 20, window: 300 }],
      spread: false,
      ...hooks,
    }
    await createProcess(api)({ pause: Math.min(pause, 86_400_000) })
    // Redis itself forgets on the real clock
    expect(await redis.client.pTTL(`test:limiter:{${api.baseUrl}}:state`)).toBeGreaterThan(600_000)
    now += 500_000
    const answer = await createProcess(api)({ wanted: 1 })
    expect(answer.grants).toEqual([])
    expect(answer.pause).toBeGreaterThanOrEqual(100_000)
  },
)
