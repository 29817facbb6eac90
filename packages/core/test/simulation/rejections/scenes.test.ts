import { expect, test } from 'vitest'

import { candidates, codeOf } from './candidates.ts'
import { play } from './play.ts'
import { scenes } from './scenes.ts'

// `pnpm --dir tools/docs write rejections` writes the tables of all scenes to docs/rejections.md
const withAim = scenes.filter(({ aim }) => aim)

test.each(withAim)('$name', async (scene) => {
  const { aim = {} } = scene
  const outcome = await play(scene, 1)
  expect(outcome.lost).toBeLessThanOrEqual(aim.lost ?? 100)
  expect(outcome.requests).toBeLessThanOrEqual(aim.requests ?? 66)
  expect(outcome.mostSends).toBeLessThanOrEqual(3)
  expect(outcome.longest).toBeLessThanOrEqual(4_000)
})

test.each(candidates)('the rule can be played as it would be with: $name', (candidate) => {
  const code = codeOf(candidate)
  for (const to of Object.values(candidate.changes)) expect(code).toContain(to)
})
