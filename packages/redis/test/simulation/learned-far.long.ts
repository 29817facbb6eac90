// Long: fleets that learn far from their API, in hours of simulated time.
import { describe, expect, test } from 'vitest'
import { useRedis } from '../support/use-redis.ts'
import { answerTimes, uneven, wholeQuota } from './whole-quota.ts'

const redis = useRedis()
const timeout = 120_000

/** One process alone has 0.87 of the quota where answers are the most uneven; of 50, each sets connections up for itself. */
const shareFar = (size: number, kind: string): number => (size === 50 && kind === uneven ? 0.81 : 0.85)

describe('learned', () => {
  const kinds = Object.keys(answerTimes)
  test.each(
    [8, 50].flatMap((size) =>
      kinds.map((kind) => [size, kind, [0, 200], shareFar(size, kind), 1.5] as const),
    ),
  )(
    '%d processes, answers in %s on a network of %j ms each way: at least %d of the quota, at most %d of 1,000 calls refused',
    { timeout },
    async (size, kind, network, share, refused) => {
      const figures = await wholeQuota({ redis: redis.client, size, network, answerTime: answerTimes[kind]! })
      expect(figures.share).toBeGreaterThan(share)
      expect(figures.refused).toBeLessThan(refused)
    },
  )
})
