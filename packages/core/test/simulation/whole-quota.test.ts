import { describe, expect, test } from 'vitest'
import { Random } from '../../../../tools/testing/src/random.ts'
import type { RateLimit, RatePolicy } from '../../src/index.ts'
import { answerTimes, simulateQuota } from './whole-quota.ts'

const limits = [{ quota: 25, window: 1_000 }]
const near = [5, 15] as const
const far = [0, 200] as const

describe('strict: no response of 429', () => {
  test.each([
    ['1 ms', near, 0.95],
    ['300 ms', near, 0.95],
    ['2 s', near, 0.78],
    ['lognormal, 300 ms', near, 0.78],
    ['100 to 3,000 ms', near, 0.77],
    ['1 ms', far, 0.82],
    ['300 ms', far, 0.79],
    ['2 s', far, 0.78],
    ['lognormal, 300 ms', far, 0.77],
    ['100 to 3,000 ms', far, 0.76],
  ])(
    'answers in %s on a network of %j ms each way: at least %d of the quota',
    async (kind, network, share) => {
      const figures = await simulateQuota({
        seed: 1,
        policy: { limits },
        network,
        answerTime: answerTimes[kind]!,
        seconds: 60,
      })
      expect(figures).toMatchObject({ refusals: 0, lost: 0 })
      expect(figures.share).toBeGreaterThan(share)
    },
  )
})

test('learned: nearly the whole quota of an API that takes 2 s, one refusal, and nothing is lost', async () => {
  const figures = await simulateQuota({
    seed: 1,
    policy: { limits, accounting: 'learned' },
    network: near,
    answerTime: answerTimes['2 s']!,
    seconds: 600,
  })
  expect(figures.lost).toBe(0)
  expect(figures.share).toBeGreaterThan(0.96)
  expect(figures.refused).toBeLessThan(0.3)
  expect(figures.status).toMatchObject({ arrivesWithin: expect.any(Number) })
})

test.each(['2 s', '100 to 3,000 ms'])(
  'strict with a window of 300 ms, answers in %s: the share that is named once is what calls get',
  async (kind) => {
    const { share, status, events } = await simulateQuota({
      seed: 1,
      policy: { limits: [{ quota: 25, window: 300 }] },
      network: near,
      answerTime: answerTimes[kind]!,
      seconds: 60,
    })
    const { slowed } = status as { slowed?: { share: number } }
    expect(Math.abs((slowed?.share ?? 1) - share)).toBeLessThan(0.05)
    expect(events.filter((type) => type === 'api.slowed')).toHaveLength(1)
  },
)

// `whole-quota.long.ts` attacks with more
test.each(Array.from({ length: 12 }, (_, index) => 1 + index))(
  'strict, attacked by seed %d: set-ups, aborts, stalls, two limits and `spread` bring no 429',
  async (seed) => {
    const random = new Random(seed)
    const quota = random.whole(1, 40)
    const window = random.pick([200, 500, 1_000, 3_000])
    const policy: RatePolicy & { readonly limits: readonly RateLimit[] } = {
      limits: random.chance(0.3)
        ? [
            { quota, window },
            { quota: quota * 4, window: window * 6 },
          ]
        : [{ quota, window }],
      spread: random.chance(0.3),
    }
    const least = random.pick([0, 5, 50, 100])
    const unevenness = random.pick([0, 5, 50, 200])
    const options = {
      seed,
      policy,
      network: [least, least + unevenness] as const,
      answerTime: random.pick(Object.values(answerTimes)),
      // as long as the first request of a connection may take at most
      setUp: Math.min(2, Math.floor(750 / (2 * (least + unevenness) + 1))),
      seconds: 60,
      givenUp: random.pick([0, 0.1, 0.5]),
      stall: random.pick([0, 0, 600]),
      callers: 3 * quota,
    }
    const figures = await simulateQuota(options)
    const { refusals, lost } = figures
    expect({ refusals, lost }, JSON.stringify(options)).toEqual({ refusals: 0, lost: 0 })
  },
)

const kinds = Object.entries(answerTimes)

test.each([
  ...kinds.map(([kind, answerTime]) => ['strict', kind, 30, answerTime] as const),
  ...kinds.map(([kind, answerTime]) => ['learned', kind, 60, answerTime] as const),
])(
  'a policy of 30 where the API allows 10, %s, answers in %s: the pace falls, at most %d refusals, and nothing is lost',
  async (accounting, _kind, most, answerTime) => {
    const figures = await simulateQuota({
      seed: 1,
      policy: { limits: [{ quota: 30, window: 1_000 }], accounting },
      allowed: [{ quota: 10, window: 1_000 }],
      network: near,
      answerTime,
      seconds: 120,
      callers: 60,
    })
    expect(figures.lost).toBe(0)
    expect(figures.refusals).toBeLessThanOrEqual(most)
    expect(figures.share).toBeGreaterThan(0.5)
    expect(figures.status).toMatchObject({ allows: [{ window: 1_000 }] })
  },
)
