import { expect, test } from 'vitest'
import { fleetPolicy } from '../../src/limiter/fleet-policy.ts'
import * as scripts from '../../src/scripts.ts'
import type { BudgetRequest, BudgetResponse } from '../../src/limiter/protocol.ts'
import { useRedis } from '../support/use-redis.ts'
import { ReferenceRedis } from './reference.ts'
import { seededRandom } from './seeded-random.ts'

const redis = useRedis()

// the time and the run of the server are told by keys of their own
const text = scripts.limiter.text
  .replace("redis.call('TIME')", '{ 0, KEYS[5] }')
  .replace("redis.pcall('INFO', 'server')", "'run_id:' .. KEYS[6]")

const policies = [
  fleetPolicy([{ quota: 25, window: 1_000 }], false),
  fleetPolicy(
    [
      { quota: 3, window: 500 },
      { quota: 20, window: 10_000 },
    ],
    false,
  ),
  fleetPolicy([{ quota: 10, window: 1_000 }], true),
  fleetPolicy([{ quota: 180, window: 60_000 }], false),
  fleetPolicy([{ quota: 100_000, window: 60_000 }], false),
]

test('the script and its reference in TypeScript agree on random histories', async () => {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9))
  const random = seededRandom(seed)
  const messages = Number(process.env['MESSAGES'] ?? (process.env['TESTS'] === 'all' ? 10_000 : 1_000))
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  let reference = new ReferenceRedis()
  let fleet = 0
  let now = 1_790_000_000_000
  let members: { name: string; number: number; heard: Pick<BudgetResponse, 'epoch' | 'turn' | 'member'> }[] =
    []
  let policy = pick(policies)
  let api = ''
  for (let index = 0; index < messages; index += 1) {
    if (index % 100 === 0) {
      api = `test:${seed}:${(fleet += 1)}`
      reference = new ReferenceRedis()
      reference.run = `a${fleet}`
      policy = pick(policies)
      const size = pick([1, 2, 5, 30])
      members = Array.from({ length: size }, (_, name) => ({
        name: `p${name}`,
        number: 0,
        heard: { epoch: '', turn: 0, member: 0 },
      }))
    }
    now += pick([0, 0.5, 3, 15, 40, 150, 400, random() < 0.1 ? 5_000 : 1])
    const chance = random()
    if (chance < 0.005) now -= pick([500, 2_000])
    else if (chance < 0.01) reference.run = `b${index}`
    else if (chance < 0.015) {
      const key = pick(['state', 'queue', 'deadlines'] as const)
      await redis.client.del(`${api}:${key}`)
      if (key === 'state') reference.keys.state = undefined
      else reference.keys[key].clear()
    } else if (chance < 0.02) policy = pick(policies)
    const member = pick(members)
    member.number += random() < 0.97 ? 1 : 0
    const span = policy.limits[0]?.span ?? 1
    const message: BudgetRequest = {
      policy,
      process: member.name,
      number: member.number,
      ...member.heard,
      alone: random() < 0.03 ? random() * 9_000 : 0,
      away: random() < 0.3,
      refused: random() < 0.1,
      units: policy.limits.map(() =>
        Array.from({ length: Math.floor(random() * 4) }, (): [number, number] => [
          Math.floor((random() < 0.3 ? -random() * 5_000 : random() * span) * 100) / 100,
          1 + Math.floor(random() * 3),
        ]),
      ),
      wanted: pick([0, 1, 3, 30, 1_000]),
      warm: pick([0, 1, 30, 1_000]),
      gather: pick([0, 0, 20, 100]),
      promise: pick([5_000, 30, 44.5, 0]),
      lag: pick([0, 20.25, 60]),
      times: Array.from({ length: Math.floor(random() * 6) }, () => Math.round(random() * 1_000) / 10),
      roundTrips:
        random() < 0.5 ? [0, 0, 0] : [random() * 100, 100 + random() * 100, 1 + Math.floor(random() * 9)],
      reported:
        random() < 0.2
          ? [Math.floor(random() * 30), Math.round(random() * 20_000) / 10, random() * 50, random() * 500]
          : [],
      pause: random() < 0.02 ? 3_000 : 0,
      resume: random() < 0.02,
    }
    const keys = ['state', 'queue', 'deadlines', `process:${member.name}`].map((part) => `${api}:${part}`)
    const expected = reference.exchange(message, readNow(now))
    const reply = await redis.client.eval(text, {
      keys: [...keys, String(Math.round(now * 1_000)), reference.run],
      arguments: [JSON.stringify(message)],
    })
    const answer = JSON.parse(reply as string) as BudgetResponse & Record<string, unknown>
    // what is empty is an object to Redis
    if ('grants' in answer && !Array.isArray(answer.grants)) Object.assign(answer, { grants: [] })
    expect(differences(answer, expected), `seed ${seed}, message ${index}`).toEqual([])
    const { epoch, turn, member: given } = answer
    if (random() < 0.9 && epoch !== undefined) member.heard = { epoch, turn, member: given }
  }
}, 120_000)

/** As the script reads it. */
function readNow(now: number): number {
  return Math.round(now * 1_000) / 1_000
}

/** Returns what is not the same; a reading of Redis' clock is told to a tenth of a millisecond. */
function differences(answer: Record<string, unknown>, expected: Record<string, unknown>): string[] {
  return Object.keys(expected).filter(
    (key) => !isClose(answer[key], expected[key], key === 'now' ? 0.1 : 0.01),
  )
}

function isClose(one: unknown, other: unknown, tolerance: number): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((each, index) => isClose(each, other[index], tolerance))
  if (typeof one === 'number' && typeof other === 'number') return Math.abs(one - other) <= tolerance
  return one === other
}
