import { afterAll, beforeAll, expect, test } from 'vitest'

import { type Player, scenarioNames } from '../src/suite/player.ts'
import { openSuite, unplayedInWorkerd } from '../src/suite/suite.ts'

let suite: Player

beforeAll(async () => {
  suite = await openSuite()
})
afterAll(() => suite?.[Symbol.asyncDispose]())

const played = scenarioNames
  .map((name, index) => ({ name, index }))
  .filter(({ name }) => !unplayedInWorkerd.some(({ scenarios }) => scenarios.test(name)))

test.each(played)('$name', { timeout: 60_000 }, async ({ index }) => {
  expect(await suite.play(index)).toBeUndefined()
})
