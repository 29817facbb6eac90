import { expect, test } from 'vitest'
import { simulateYear } from './client-year.ts'

// `pnpm --dir tools/soak simulate-token` runs more of them; a failure names its seed
test('in a year of outages, rotations and revocations no call is lost that could be sent', async () => {
  const { calls } = await simulateYear(Math.floor(Math.random() * 2 ** 31))
  expect(calls).toBeGreaterThan(1_000)
}, 60_000)
