// Long: needs workerd.
import { afterAll, beforeAll, expect, test } from 'vitest'

import { isRefused, type Player, scenarioNames } from './workers/suite/player.ts'
import { openSuite } from './workers/suite/suite.ts'

let suite: Player

beforeAll(async () => {
  suite = await openSuite()
})
afterAll(() => suite?.[Symbol.asyncDispose]())

const played = scenarioNames
  .map((name, index) => ({ name, index }))
  // one starts servers that do not speak HTTP, one watches requests by channels that workerd does not have, and workerd
  // itself cuts a response of 100 MB of gzip
  .filter(({ name }) => !/provoked outcomes|in the async context|gzip of 100/.test(name))

/** Scenarios with a rate policy, which the runtime refuses. */
const refused: string[] = []

test.each(played)('$name', async ({ name, index }) => {
  const failure = await suite.play(index)
  if (isRefused(failure)) refused.push(name)
  expect(isRefused(failure) ? undefined : failure).toBeUndefined()
})

test('most scenarios have no rate policy', () => {
  expect(refused.length).toBeLessThan(played.length / 2)
})
