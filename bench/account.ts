// What Tokenlane costs over the wrapper by hand, and which of its properties costs it: one after the other is taken out
// until the wrapper is left, so that the figures add up to the whole difference.
import type { Client } from './children/caller.ts'
import type { ServicePlace } from './children/http-service.ts'
import type { PropertyOrder, PropertyTask } from './children/property-caller.ts'
import { startChild, tellOf } from './support/child.ts'
import { median } from './support/median.ts'
import type { Figure, Round } from './support/round.ts'
import { interleaved, inTurn, spreadOf } from './support/rounds.ts'
import { ofPolicy, type Properties, properties, rest } from './support/properties.ts'
import { printTable } from './support/table.ts'
import type { TakenOut } from './support/taken-out.ts'
import type { VariantName } from './support/variants.ts'

const quick = process.argv.includes('--quick')
const only = process.argv.find((arg) => arg.startsWith('--client='))?.slice('--client='.length)
/** Each begins with a new process, which loads the cases in another order: the first one is slower for as long as it lives. */
const generations = quick ? 1 : 5
const rounds = quick ? 31 : 61
const load = { calls: 100, concurrency: 50 }
// V8 compiles 70 to 100 functions once more after about 11,000 calls
const warmUp = { calls: quick ? 4_000 : 14_000, concurrency: 50 }

interface Account {
  readonly ours: VariantName
  readonly byHand: VariantName
  /** What our calls have beside what they always have. */
  readonly beside: Properties
}

const accounts: readonly Account[] = [
  { ours: 'Tokenlane', byHand: 'wrapper by hand', beside: {} },
  { ours: 'Tokenlane, policy', byHand: 'wrapper, p-queue', beside: ofPolicy },
]

const server = startChild('http-service.ts', { scheme: 'http' })
const service = await tellOf<ServicePlace>(server)
for (const client of ['axios', 'got', 'ky', 'fetch'] as const) {
  if (only !== undefined && only !== client) continue
  for (const account of accounts) {
    const all: (readonly (readonly [string, number])[])[] = []
    for (let generation = 0; generation < generations; generation += 1)
      all.push(await measure(client, account, generation))
    printAccount(client, account, all)
  }
}
server.kill()

/** Returns the microseconds of CPU of each case in its quiet rounds: Tokenlane, with ever less of it, and the wrapper. */
async function measure(
  client: Client,
  { ours, byHand, beside }: Account,
  generation: number,
): Promise<(readonly [string, number])[]> {
  const cases = new Map<string, PropertyOrder['cases'][number]>([[ours, { variant: ours, without: [] }]])
  const without: TakenOut[] = []
  for (const [property, parts] of Object.entries({ ...beside, ...properties[client] })) {
    without.push(...parts)
    cases.set(property, { variant: ours, without: [...without] })
  }
  cases.set(byHand, { variant: byHand, without: [] })
  const names = [...cases.keys()]
  const loaded = inTurn(names, 2 * generation)

  const child = startChild('property-caller.ts', {
    client,
    service,
    cases: loaded.map((name) => cases.get(name) as PropertyOrder['cases'][number]),
  } satisfies PropertyOrder)
  await tellOf(child)
  const run = (name: string, round: Round): Promise<Figure> => {
    const figure = tellOf<Figure>(child)
    child.send({ place: loaded.indexOf(name), ...round } satisfies PropertyTask)
    return figure
  }
  for (const name of loaded) await run(name, warmUp)
  const figures = await interleaved(names, rounds, (name) => run(name, load))
  child.disconnect()
  return Array.from(figures, ([name, each]) => [name, quietOf(each)] as const)
}

function quietOf(figures: readonly Figure[]): number {
  return spreadOf(figures.map(({ cpu }) => cpu)).low
}

function printAccount(
  client: Client,
  { ours, byHand }: Account,
  all: readonly (readonly (readonly [string, number])[])[],
): void {
  const names = (all[0] ?? []).map(([name]) => name)
  const figures = atOneSpeed(all.map((each) => each.map(([, figure]) => figure)))
  const [whole = Number.NaN, wrapper = Number.NaN] = [figures[0], figures.at(-1)]
  const row = (what: string, costs: number): Record<string, string> => ({
    what,
    µs: rounded(costs, 1),
    'of the wrapper': rounded(costs / wrapper, 3),
  })
  printTable(
    `${client}: what a call with ${ours} takes over the ${byHand}, in µs of CPU, by property; quiet ones of ${generations * rounds} rounds`,
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

/** Not `-0.0`. */
function rounded(figure: number, digits: number): string {
  return (Number(figure.toFixed(digits)) + 0).toFixed(digits)
}
