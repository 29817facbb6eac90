import { afterAll, beforeAll, expect, test } from 'vitest'

import { openSuite, scenarioNames, type Suite, unplayed } from '../src/suite/suite.ts'

let suite: Suite

beforeAll(async () => {
  suite = await openSuite()
})
afterAll(() => suite?.[Symbol.asyncDispose]())

const played = scenarioNames
  .map((name, index) => ({ name, index }))
  .filter(({ name }) => !unplayed.some(({ scenarios }) => scenarios.test(name)))

test.each(played)('$name', { timeout: 60_000 }, async ({ index }) => {
  expect(await suite.play(index)).toBeUndefined()
})
