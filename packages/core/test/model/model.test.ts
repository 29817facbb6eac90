import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { commands, settings } from './commands.ts'
import { figures } from './figures.ts'
import { World } from './world.ts'

// Random sequences of calls, time, clocks that part, and issuers and APIs that misbehave. What must hold:
// 1. an issuer never has two token requests of this process at once;
// 2. a call is sent only with its own issuer's current token, live by both clocks, and never after its abort;
// 3. token requests stay within the bound that token-model.ts writes down;
// 4. every call ends in time, with a result or a reason, after two sends at most; none fails for want of a token
//    while the issuer is well or a token lives;
// 5. nothing rejects unhandled; an idle or closed manager has no timer, and closing waits for nothing but work;
// 6. no event, error or status holds a secret or a token.
//
// A failure prints the seed, the path and the shrunk sequence: `MODEL_SEED` and `MODEL_PATH` run it again.
// `SOAK_RUNS` is how many sequences to run.
const { SOAK_RUNS, SEED, MODEL_SEED = SEED, MODEL_PATH, TESTS } = process.env
const runs = Number(SOAK_RUNS ?? (TESTS === 'all' ? 2_000 : 200))
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
      const seed = Number(MODEL_SEED) + done
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
