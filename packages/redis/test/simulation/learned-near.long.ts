// Long: fleets that learn near their API, in hours of simulated time.
import { describe, expect, test } from 'vitest'
import { useRedis } from '../support/use-redis.ts'
import { answerTimes, wholeQuota } from './whole-quota.ts'

const redis = useRedis()
const timeout = 120_000

describe('learned', () => {
  const kinds = Object.keys(answerTimes)
  test.each([8, 50].flatMap((size) => kinds.map((kind) => [size, kind, [5, 15], 0.97, 0.3] as const)))(
    '%d processes, answers in %s on a network of %j ms each way: at least %d of the quota, at most %d of 1,000 calls refused',
    { timeout },
    async (size, kind, network, share, refused) => {
      const figures = await wholeQuota({ redis: redis.client, size, network, answerTime: answerTimes[kind]! })
      expect(figures.share).toBeGreaterThan(share)
      expect(figures.refused).toBeLessThan(refused)
    },
  )
})
