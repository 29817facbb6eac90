import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { commands, settings } from './commands.ts'
import { figures } from './figures.ts'
import { World } from './world.ts'

// `SOAK_RUNS` runs more sequences than anybody wants to wait for; `MODEL_SEED` and `MODEL_PATH` run one again.
const { SOAK_RUNS, MODEL_SEED, MODEL_PATH } = process.env
const runs = Number(SOAK_RUNS ?? 2_000)
const round = 5_000

const unhandled: unknown[] = []
const remember = (reason: unknown): unknown => unhandled.push(reason)
process.on('unhandledRejection', remember)
afterEach(() => {
  process.off('unhandledRejection', remember)
})

const property = fc.asyncProperty(settings, commands, async (setting, sequence) => {
  const random = Math.random
  Math.random = drawnFrom(setting.seed)
  unhandled.length = 0
  const world = new World(setting)
  try {
    for (const command of sequence) {
      await command.run(world)
      world.check()
    }
    await world.finish()
    if (unhandled.length > 0) throw new Error(`invariant 5: unhandled: ${String(unhandled)}`)
  } finally {
    world.clock.stop()
    Math.random = random
    figures.sequences += 1
    figures.commands += sequence.length
  }
})

test(
  'whatever happens, in any order: calls end in time with a live token or a reason, and an issuer is spared',
  async () => {
    for (let done = 0; done < runs; done += round) {
      const seed = Number(MODEL_SEED ?? Math.floor(Math.random() * 2 ** 31))
      await fc.assert(property, {
        numRuns: Math.min(round, runs - done),
        seed,
        ...(MODEL_PATH && { path: MODEL_PATH }),
      })
      if (SOAK_RUNS) console.log(`seed ${seed}: ${figures.toString()}`)
    }
    expect(figures.sequences).toBeGreaterThan(0)
  },
  Infinity,
)

/** A generator of Math.random's kind that a sequence can be run again with (mulberry32). */
function drawnFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
