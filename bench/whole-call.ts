// What a whole call costs through each client on loopback: bare, with what people write by hand, and with Tokenlane.
import type { CallerOrder, Client } from './children/caller.ts'
import type { ServicePlace } from './children/http-service.ts'
import type { Figure, Round } from './support/round.ts'
import { startChild, tellOf } from './support/child.ts'
import { median, printTable } from './support/figures.ts'
import { interleaved, spreadOf, spreadText } from './support/rounds.ts'
import { variantNames, type VariantName } from './support/variants.ts'

const quick = process.argv.includes('--quick')
const only = process.argv.find((arg) => arg.startsWith('--client='))?.slice('--client='.length)
/** Each begins with new processes: two of the same variant may differ by 1 %, for as long as they live. */
const generations = Number(process.argv.find((arg) => arg.startsWith('--generations='))?.slice(14) ?? 1)
const rounds = quick ? 31 : 61
const load = { calls: 100, concurrency: 50 }
// V8 compiles 70 to 100 functions once more after about 11,000 calls
const warmUp = { calls: quick ? 4_000 : 14_000, concurrency: 50 }

type Figures = ReadonlyMap<VariantName, readonly Figure[]>

const server = startChild('http-service.ts', { scheme: 'http' })
const service = await tellOf<ServicePlace>(server)
for (const client of ['axios', 'got', 'ky', 'fetch', 'undici'] as const) {
  if (only !== undefined && only !== client) continue
  const all: Figures[] = []
  for (let generation = 0; generation < generations; generation += 1) all.push(await measure(client))
  printTable(
    `${client}: medians of ${generations * rounds} rounds of ${load.calls} calls, 50 at a time (range of the middle half); the bare client in the same round = 1`,
    rowsOf(all),
  )
}
server.kill()

/** Starts a process for each variant, and gives each a turn in every round. */
async function measure(client: Client): Promise<Figures> {
  const start = (variant: VariantName): Promise<Caller> => startCaller({ client, variant, service })
  const bare = await start('bare')
  const names = variantNames.filter((name) => bare.variants.includes(name))
  const callers = new Map<string, Caller>([['bare', bare]])
  for (const name of names) if (name !== 'bare') callers.set(name, await start(name))
  const callerOf = (name: string): Caller => callers.get(name) as Caller
  // until all is compiled and connected
  for (const name of names) await callerOf(name).round(warmUp)
  const figures = await interleaved(names, rounds, (name) => callerOf(name).round(load))
  for (const caller of callers.values()) caller.stop()
  return figures as Map<VariantName, Figure[]>
}

function rowsOf(all: readonly Figures[]): Record<string, string>[] {
  const names = variantNames.filter((name) => all[0]?.has(name))
  return names.map((name) => {
    const post = name.endsWith('POST') ? ', POST' : ''
    const bare = `bare${post}` as VariantName
    const byHand = `wrapper by hand${post}` as VariantName
    const quiet = median(all.map((figures) => quietOf(figures, name)))
    return {
      call: name,
      time: spreadText(spreadOf(all.flatMap((figures) => ratios(figures, name, bare, 'time'))), 3),
      'CPU time': spreadText(spreadOf(all.flatMap((figures) => ratios(figures, name, bare, 'cpu'))), 3),
      'CPU, quiet rounds': median(
        all.map((figures) => quietOf(figures, name) / quietOf(figures, bare)),
      ).toFixed(3),
      'vs. wrapper': name.startsWith('Tokenlane')
        ? median(all.map((figures) => quietOf(figures, name) / quietOf(figures, byHand))).toFixed(3)
        : '',
      'µs of CPU': quiet.toFixed(1),
    }
  })
}

/** Round by round, since what disturbs a round disturbs all of it. */
function ratios(figures: Figures, name: VariantName, base: VariantName, key: keyof Figure): number[] {
  const bases = figures.get(base) ?? []
  return (figures.get(name) ?? []).map((figure, round) => figure[key] / (bases[round]?.[key] ?? Number.NaN))
}

/** Microseconds of CPU per call where only a quarter of the rounds took less: what disturbs only ever adds. */
function quietOf(figures: Figures, name: VariantName): number {
  return spreadOf((figures.get(name) ?? []).map(({ cpu }) => cpu)).low
}

/** A process that makes calls of one variant through one client. */
interface Caller {
  /** The variants that its client has. */
  readonly variants: readonly VariantName[]
  round(round: Round): Promise<Figure>
  stop(): void
}

async function startCaller(order: CallerOrder): Promise<Caller> {
  const child = startChild('caller.ts', order)
  const variants = await tellOf<VariantName[]>(child)
  return {
    variants,
    round(round) {
      const figure = tellOf<Figure>(child)
      child.send(round)
      return figure
    },
    stop: () => child.disconnect(),
  }
}
