// Long: 45 scenes; rejections.test.ts has the rules that they are about.
import { expect, test } from 'vitest'

import { play } from './play.ts'
import { scenes } from './scenes.ts'

// `pnpm --dir tools/docs write rejections` writes the table of all scenes beside this file
const withAim = scenes.filter(({ aim }) => aim)

test.each(withAim)('$name', async (scene) => {
  const { aim = {} } = scene
  const outcome = await play(scene, 1)
  expect(outcome.lost).toBeLessThanOrEqual(aim.lost ?? 100)
  expect(outcome.requests).toBeLessThanOrEqual(aim.requests ?? 66)
  expect(outcome.mostSends).toBeLessThanOrEqual(2)
  expect(outcome.longest).toBeLessThanOrEqual(2_000)
})
