import type { LimitedApi } from '@tokenlane/core/fleet'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Budget } from '../src/budget.ts'
import { limiterScript } from '../src/limiter-script.ts'
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

const text = limiterScript.text.replace("redis.call('TIME')", "{ 0, tonumber(string.match(KEYS[8], '%d+')) }")
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

/** A process that always has more calls than it may send. */
function join(api: LimitedApi, arrivals: number[], networks: readonly Network[]): Member {
  const budget = new Budget(client, 'test', api, 500)
  const member: Member = { sends: [], granted: 0, dead: false }
  let held = 0
  let turns = 0
  let untold: { number: number; at: number }[] = []
  const network = (): Network => networks[turns++ % networks.length] as Network

  const send = (): void => {
    if (member.dead) return
    const { there, back } = network()
    member.sends.push(now)
    const number = member.sends.length
    later(there, () => arrivals.push(now))
    later(there + back, () => {
      held -= 1
      untold.push({ number, at: now })
    })
  }
  const ask = (): void => {
    if (member.dead) return
    const told = [...untold]
    const message = { rejoins: false, held, wanted: 30, pause: 0 }
    const settled = told.map(({ number, at }) => ({ number, age: now - at }))
    const { there, back, lost } = network()
    later(there / 10, async () => {
      const { granted, delay, wait } = await budget.exchange({ ...message, settled })
      member.granted += granted
      if (lost) later(100, ask)
      else
        later(back / 10, () => {
          if (member.dead) return
          untold = untold.filter((each) => !told.includes(each))
          held += granted
          for (let unit = 0; unit < granted; unit += 1) later(delay, send)
          later(Math.max(1, wait), ask)
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
      const api: LimitedApi = { baseUrl: `fleet ${fleets}`, accounting: 'response', ...policy, ...hooks }
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
    { numRuns: 12 },
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
  const api: LimitedApi = { baseUrl: 'fair', accounting: 'response', limits, spread: false, ...hooks }
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
    accounting: 'response',
    limits,
    spread: false,
    ...hooks,
  }
  const [one, two] = [new Budget(client, 'test', api, 500), new Budget(client, 'test', api, 500)]
  const silence = { rejoins: false, held: 0, wanted: 0, pause: 0, settled: [] }
  await one.exchange(silence)
  await two.exchange(silence)
  now += 400
  await one.exchange({ ...silence, rejoins: true })
  now += 1
  expect(await one.exchange({ ...silence, wanted: 20 })).toMatchObject({ granted: 0 })
  // by its own share, while it was not heard
  const settled = Array.from({ length: 10 }, (_, number) => ({ number, age: 50 }))
  await two.exchange({ ...silence, rejoins: true, settled })
  now += 1_000
  expect(await one.exchange({ ...silence, wanted: 20 })).toMatchObject({ granted: 20 })
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
      accounting: 'response',
      limits: [{ quota: 20, window: 300 }],
      spread: false,
      ...hooks,
    }
    const silence = { rejoins: false, held: 0, wanted: 0, pause: 0, settled: [] }
    await new Budget(client, 'test', api, 500).exchange({ ...silence, pause })
    // Redis itself forgets on the real clock
    expect(await redis.client.pTTL(`test:limiter:{${api.baseUrl}}:state`)).toBeGreaterThan(600_000)
    now += 500_000
    const answer = await new Budget(client, 'test', api, 500).exchange({ ...silence, wanted: 1 })
    expect(answer.granted).toBe(0)
    expect(answer.pause).toBeGreaterThanOrEqual(100_000)
  },
)
