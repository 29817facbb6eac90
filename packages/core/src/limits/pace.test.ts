import { expect, test } from 'vitest'
import { play, type Scene, type SceneFigures, sharings } from '../../test/simulation/sharers.ts'

const second = 1_000
const minute = 60 * second
const perSecond = { quota: 25, window: second }
const perMinute = { quota: 1_000, window: minute }

const one = (scene: Scene): Promise<SceneFigures> => play(scene, 1, sharings['tenants']!)

test.each([
  ['no limits', { limits: [] }],
  ['a policy of 1,000 a second', { limits: [{ quota: 1_000, window: second }] }],
  ['a policy of 40 a second, spread', { limits: [{ quota: 40, window: second }], spread: true }],
  ['no limits, and five at the same time', { limits: [], concurrency: 5 }],
  [
    'a policy of 1,000 a second, and five at the same time',
    { limits: [{ quota: 1_000, window: second }], concurrency: 5 },
  ],
])(
  '%s: 40 calls at a time to an API of five a second lose none, and get most of what it takes',
  async (_, policy) => {
    for (const says of ['Retry-After', 'headers', 'nothing'] as const) {
      const api = { limits: [{ quota: 5, window: second }], says }
      const { lost, rate, refusals } = await one({ api, policy, seconds: 60, callers: 40 })
      expect(lost).toBe(0)
      expect(rate).toBeGreaterThan(3)
      expect(refusals).toBeLessThan(100)
    }
  },
)

test('an API that refuses 3 % of calls for no reason loses at most a tenth of the rate', async () => {
  const policy = { limits: [perSecond] }
  const scene = { policy, seconds: 300, callers: 60 }
  const { rate } = await one({ ...scene, api: { says: 'nothing' } })
  const { rate: withRefusals, lost } = await one({ ...scene, api: { random: 0.03, says: 'nothing' } })
  expect(lost).toBe(0)
  expect(withRefusals).toBeGreaterThan(0.9 * rate)
  const { pace, lost: lostAfterPauses } = await one({ ...scene, api: { random: 0.03, says: 'Retry-After' } })
  expect(lostAfterPauses).toBe(0)
  expect(pace).toBeGreaterThan(0.5 * perSecond.quota)
})

test.each([
  ['a second, longer limit', { limits: [perSecond, perMinute] }],
  ['`spread`', { limits: [perSecond], spread: true }],
  ['few calls at the same time', { limits: [perSecond], concurrency: 2 }],
])('%s beside the limit that is refused changes nothing: at most 30 refusals', async (_, policy) => {
  const { lost, refusals, rate } = await one({
    api: { limits: [{ quota: 10, window: second }], says: 'Retry-After' },
    policy,
    seconds: 60,
    callers: 60,
  })
  expect(lost).toBe(0)
  expect(refusals).toBeLessThanOrEqual(30)
  expect(rate).toBeGreaterThan(8)
})

test('a refused limit of a minute slows the minute down, and not the second', async () => {
  const { lost, pace } = await one({
    api: { limits: [perSecond, { quota: 200, window: minute }], says: 'Retry-After' },
    policy: { limits: [perSecond, perMinute] },
    seconds: 200,
    callers: 40,
  })
  expect(lost).toBe(0)
  // the first of the limits that are kept
  expect(pace).toBe(25)
})
