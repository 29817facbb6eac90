// Long: thousands of windows of each kind of API, and many attacks.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { Random } from '../../../../tools/testing/src/random.ts'
import type { RateLimit, RatePolicy } from '../../src/index.ts'
import { page, withQuotaTable } from './quota-table.ts'
import { answerTimes, type QuotaFigures, simulateQuota } from './whole-quota.ts'

const limits = [{ quota: 25, window: 1_000 }]
const near = [5, 15] as const
const far = [0, 200] as const

test('the table of rate-policy.md is what `pnpm --dir tools/docs write quota` writes', async () => {
  const squeezed = (text: string): string => text.replaceAll(/ {2,}|-{3,}/g, ' ')
  const text = readFileSync(page, 'utf8')
  expect(squeezed(text)).toBe(squeezed(await withQuotaTable(text)))
})

describe('learned: nothing is lost', () => {
  test.each([
    ['1 ms', near, 0.97, 0.3],
    ['300 ms', near, 0.97, 0.3],
    ['2 s', near, 0.97, 0.3],
    ['lognormal, 300 ms', near, 0.97, 0.3],
    ['100 to 3,000 ms', near, 0.97, 0.3],
    ['1 ms', far, 0.85, 1.5],
    ['300 ms', far, 0.85, 1.5],
    ['2 s', far, 0.85, 1.5],
    ['lognormal, 300 ms', far, 0.85, 1.5],
    ['100 to 3,000 ms', far, 0.85, 1.5],
  ])(
    'answers in %s on a network of %j ms each way: at least %d of the quota, at most %d of 1,000 calls refused',
    async (kind, network, share, refused) => {
      const figures = await simulateQuota({
        seed: 1,
        policy: { limits, accounting: 'learned' },
        network,
        answerTime: answerTimes[kind]!,
        seconds: 600,
      })
      expect(figures.lost).toBe(0)
      expect(figures.share).toBeGreaterThan(share)
      expect(figures.refused).toBeLessThan(refused)
    },
  )
})

describe('learned: the first minute from the start, mean of 10 seeds', () => {
  test.each(
    Object.keys(answerTimes).flatMap((kind) => [
      [kind, near, 0.97, 0.3] as const,
      [kind, [50, 100], kind === '100 to 3,000 ms' ? 0.9 : 0.93, 1] as const,
      [kind, far, 0.85, 1.75] as const,
    ]),
  )(
    'answers in %s on a network of %j ms each way: at least %d of the quota, at most %d of 1,000 calls refused',
    async (kind, network, share, refused) => {
      const runs: QuotaFigures[] = []
      for (let seed = 1; seed <= 10; seed += 1)
        runs.push(
          await simulateQuota({
            seed,
            policy: { limits, accounting: 'learned' },
            network,
            answerTime: answerTimes[kind]!,
            seconds: 70,
            // as on a network where a connection costs next to nothing, which is what `bench/rate.ts` measures
            setUp: 0,
            callers: 150,
          }),
        )
      const mean = (of: (run: QuotaFigures) => number): number =>
        runs.reduce((sum, run) => sum + of(run), 0) / runs.length
      expect(mean(({ lost }) => lost)).toBe(0)
      expect(mean((run) => run.share)).toBeGreaterThan(share)
      expect(mean((run) => run.refused)).toBeLessThan(refused)
      // no run takes refusals of its first minute for a wrong policy
      for (const { status } of runs) expect(status).not.toHaveProperty('allows')
    },
  )
})

// `ATTACK=…` attacks with others
const first = Number(process.env['ATTACK'] ?? 1)

test.each(Array.from({ length: 60 }, (_, index) => first + index))(
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
      seconds: 120,
      givenUp: random.pick([0, 0.1, 0.5]),
      stall: random.pick([0, 0, 600]),
      callers: 3 * quota,
    }
    const figures = await simulateQuota(options)
    const { refusals, lost } = figures
    expect({ refusals, lost }, JSON.stringify(options)).toEqual({ refusals: 0, lost: 0 })
  },
)
