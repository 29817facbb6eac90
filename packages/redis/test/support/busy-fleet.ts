import { redisLimiter } from '../../src/index.ts'
import type { TestClient } from '../clients.ts'
import { RateFleet } from './rate-fleet.ts'

/** A process for each client, which always has calls, on one budget of 40 calls a second. */
export function busyFleet(clients: readonly TestClient[]): RateFleet {
  const size = clients.length
  return new RateFleet({
    size,
    limits: [{ quota: 20, window: 500 }],
    depth: 3,
    apiTime: () => 5 + 30 * Math.random(),
    limiter: (index) =>
      redisLimiter({
        client: clients[index] as TestClient,
        fallbackShare: 1 / size,
        reconnectTime: 1_000,
      }),
  })
}
