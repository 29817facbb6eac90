// What Tokenlane costs over the wrapper by hand, and which of its properties costs it: one after the other is taken out
// until the wrapper is left, so that the figures add up to the whole difference.
import type { Client, Figure } from './children/caller.ts'
import type { ServicePlace } from './children/http-service.ts'
import { startCaller, type Caller } from './support/caller.ts'
import { startChild, tellOf } from './support/child.ts'
import { median } from './support/median.ts'
import { interleaved, spreadOf } from './support/rounds.ts'
import { properties, rest } from './support/properties.ts'
import { printTable } from './support/table.ts'
import type { TakenOut } from './support/taken-out.ts'
import type { VariantName } from './support/variants.ts'

const quick = process.argv.includes('--quick')
const only = process.argv.find((arg) => arg.startsWith('--client='))?.slice('--client='.length)
/** Each begins with new processes: two of the same case may differ by 1 %, for as long as they live. */
const generations = quick ? 1 : 7
const rounds = quick ? 31 : 61
const load = { calls: 100, concurrency: 50 }
// V8 compiles 70 to 100 functions once more after about 11,000 calls
const warmUp = { calls: quick ? 4_000 : 14_000, concurrency: 50 }

const byHand = 'wrapper by hand'
const ours = 'Tokenlane'

const server = startChild('http-service.ts', { scheme: 'http' })
const service = await tellOf<ServicePlace>(server)
for (const client of ['axios', 'got', 'ky', 'fetch'] as const) {
  if (only !== undefined && only !== client) continue
  const all: (readonly (readonly [string, number])[])[] = []
  for (let generation = 0; generation < generations; generation += 1) all.push(await measure(client))
  printAccount(client, all)
}
server.kill()

/** Returns the microseconds of CPU of each case in its quiet rounds: Tokenlane, with ever less of it, and the wrapper. */
async function measure(client: Client): Promise<(readonly [string, number])[]> {
  const cases = new Map<string, Caller>()
  const start = (variant: VariantName, without?: readonly TakenOut[]): Promise<Caller> =>
    startCaller({ client, variant, service, ...(without && { without }) })
  // loaded by the same way as those from which something is taken out
  cases.set(ours, await start(ours, []))
  const without: TakenOut[] = []
  for (const [property, parts] of Object.entries(properties[client])) {
    without.push(...parts)
    cases.set(property, await start(ours, without))
  }
  cases.set(byHand, await start(byHand, []))
  const callerOf = (name: string): Caller => cases.get(name) as Caller
  for (const caller of cases.values()) await caller.round(warmUp)
  const figures = await interleaved([...cases.keys()], rounds, (name) => callerOf(name).round(load))
  for (const caller of cases.values()) caller.stop()
  return Array.from(figures, ([name, each]) => [name, quietOf(each)] as const)
}

function quietOf(figures: readonly Figure[]): number {
  return spreadOf(figures.map(({ cpu }) => cpu)).low
}

function printAccount(client: Client, all: readonly (readonly (readonly [string, number])[])[]): void {
  const names = (all[0] ?? []).map(([name]) => name)
  const figures = atOneSpeed(all.map((each) => each.map(([, figure]) => figure)))
  const [whole = Number.NaN, wrapper = Number.NaN] = [figures[0], figures.at(-1)]
  const row = (what: string, costs: number): Record<string, string> => ({
    what,
    µs: costs.toFixed(1),
    'of the wrapper': (costs / wrapper).toFixed(3),
  })
  printTable(
    `${client}: what a call with Tokenlane takes over the wrapper by hand, in µs of CPU, by property; quiet ones of ${generations * rounds} rounds`,
    [
      row(byHand, wrapper),
      ...names.slice(1).map((name, index) => {
        const costs = (figures[index] ?? Number.NaN) - (figures[index + 1] ?? Number.NaN)
        return row(name === byHand ? rest : name, costs)
      }),
      row(ours, whole),
    ],
  )
}

/**
 * Returns the median of each case over the generations. What a whole generation took more or less than the others says
 * only how fast the machine was then.
 */
function atOneSpeed(generationsOf: readonly (readonly number[])[]): number[] {
  const speeds = generationsOf.map((each) => each.reduce((sum, figure) => sum + figure, 0) / each.length)
  const usual = median(speeds)
  return (generationsOf[0] ?? []).map((_, place) =>
    median(
      generationsOf.map(
        (each, generation) => ((each[place] ?? Number.NaN) * usual) / (speeds[generation] ?? usual),
      ),
    ),
  )
}
