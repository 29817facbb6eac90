import { expect, test } from 'vitest'
import { play, type Scene, type SceneFigures, type SharedApi, type Sharing, sharings } from './sharers.ts'

const second = 1_000
/** A policy of 30 calls a second. */
const thirty = { limits: [{ quota: 30, window: second }] }
const takes = (quota: number): Pick<SharedApi, 'limits'> => ({ limits: [{ quota, window: second }] })
const common = { policy: thirty, seconds: 40, callers: 40 }

/** Each is played by one queue, and by several that share its budget. */
const scenes: Record<string, Scene> = {
  'a policy that fits': { ...common, api: { ...takes(30), says: 'Retry-After' } },
  'a policy that is a little too loose': { ...common, api: { ...takes(25), says: 'Retry-After' } },
  'ten times too loose, with Retry-After': { ...common, api: { ...takes(3), says: 'Retry-After' } },
  'ten times too loose, with headers': { ...common, api: { ...takes(3), says: 'headers' } },
  'ten times too loose, without a word': { ...common, api: { ...takes(3), says: 'nothing' } },
  'a hundred times too loose': {
    ...common,
    policy: { limits: [{ quota: 500, window: second }] },
    api: { ...takes(5), says: 'Retry-After' },
  },
  'a policy without limits': { ...common, policy: { limits: [] }, api: { ...takes(5), says: 'nothing' } },
  'an API that limits calls at the same time': {
    ...common,
    policy: { limits: [{ quota: 200, window: second }] },
    api: { concurrency: 5, says: 'nothing' },
  },
  'two limits, of which the short one is too loose': {
    ...common,
    policy: { limits: [...thirty.limits, { quota: 1_000, window: 60 * second }] },
    api: { ...takes(10), says: 'Retry-After' },
  },
  'policies that differ in what is each one\u2019s own': {
    ...common,
    api: { ...takes(10), says: 'Retry-After' },
    own: (sharer) => ({
      maxWait: 600_000 + sharer,
      longestPause: 200_000 + sharer,
      concurrency: 100 + sharer,
    }),
  },
  'another policy that one of them sets': {
    ...common,
    api: { ...takes(10), says: 'Retry-After' },
    acts: [
      {
        at: 10 * second,
        act: (tokens) =>
          tokens.setRatePolicy('https://api.example.com/', { limits: [{ quota: 4, window: second }] }),
      },
    ],
  },
  'a pause that one of them ends': {
    ...common,
    api: { ...takes(10), says: 'Retry-After' },
    acts: [{ at: 1_500, act: (tokens) => tokens.resume('https://api.example.com/') }],
  },
}

/** What differs by more than 15 %, and by more than two, which small figures differ by. */
function differing(many: SceneFigures, one: SceneFigures): Partial<SceneFigures> {
  return Object.fromEntries(
    Object.entries(many).filter(([name, figure]) => {
      const other = one[name as keyof SceneFigures]
      return figure !== other && Math.abs(figure - other) > 0.15 * other + 2
    }),
  )
}

const played = Object.entries(sharings).flatMap(([who, sharing]) =>
  Object.entries(scenes).map(([what, scene]) => [what, who, scene, sharing] as const),
)

test.each(played)('%s: 20 %s behave as one manager', async (_what, _who, scene, sharing) => {
  const one = await play(scene, 1, sharing)
  const many = await play(scene, 20, sharing)
  expect(differing(many, one), JSON.stringify({ one, many })).toEqual({})
})

test.each([
  { says: 'Retry-After', seconds: 120 },
  // refusals show what it takes, which is what calls that arrive after each other would have got
  { says: 'nothing', seconds: 240 },
] as const)(
  'an API that stands still now and then and says $says is called as fast as before',
  async ({ says, seconds }) => {
    const api: SharedApi = { ...takes(30), says, stall: { after: 9_100, for: 1_300 } }
    const { rate, lost } = await play({ ...common, seconds, api }, 1, sharings['tenants'] as Sharing)
    expect(lost).toBe(0)
    expect(rate).toBeGreaterThan(20)
  },
)
