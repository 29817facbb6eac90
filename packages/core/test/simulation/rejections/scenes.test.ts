import { expect, test } from 'vitest'
import { play } from './play.ts'
import { scenes } from './scenes.ts'

// `pnpm --dir tools/docs write rejections` writes the table of all scenes to docs/rejections.md
const withAim = scenes.filter(({ aim, burst, processes = 1 }) => aim && burst === undefined && processes < 3)

test.each(withAim)('$name', async (scene) => {
  const { aim = {}, refusesAtRandom, nodes } = scene
  // what is drawn at random needs its time; the rest shows in a minute
  const seconds = refusesAtRandom || nodes || scene.startsAt ? scene.seconds : 60
  const outcome = await play({ ...scene, ...(seconds !== undefined && { seconds }) }, 1)
  expect(outcome.lost).toBeLessThanOrEqual(aim.lost ?? 100)
  expect(outcome.requests).toBeLessThanOrEqual(aim.requests ?? 66)
  expect(outcome.mostSends).toBeLessThanOrEqual(3)
  expect(outcome.longest).toBeLessThanOrEqual(4_000)
})
