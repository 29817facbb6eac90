import { describe, expect, test } from 'vitest'
import { useRedis } from '../support/use-redis.ts'
import { answerTimes, wholeQuota } from './whole-quota.ts'

/** Tests that fleets of 8 and of 50 processes get their share of the quota, whatever times the API takes. */
export function testLearned(
  network: readonly [number, number],
  shareOf: (size: number, kind: string) => number,
  mostRefused: number,
): void {
  const redis = useRedis()
  describe('learned', () => {
    const cases = [8, 50].flatMap((size) =>
      Object.entries(answerTimes).map(
        ([kind, answerTime]) => [size, kind, network, shareOf(size, kind), mostRefused, answerTime] as const,
      ),
    )
    test.each(cases)(
      '%d processes, answers in %s on a network of %j ms each way: at least %d of the quota, at most %d of 1,000 calls refused',
      async (size, _, __, share, refused, answerTime) => {
        const figures = await wholeQuota({
          redis: redis.client,
          size,
          network,
          answerTime,
          warmUp: 120,
          each: 150,
        })
        expect(figures.share).toBeGreaterThan(share)
        expect(figures.refused).toBeLessThan(refused)
      },
    )
  })
}
