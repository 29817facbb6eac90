// Where a call's time goes: each client bare, with the wrapper by hand and with Tokenlane, by package and by function.
import type { Client } from './children/caller.ts'
import type { ServicePlace } from './children/http-service.ts'
import type { Figure } from './support/round.ts'
import { startCaller, type Caller } from './support/caller.ts'
import { startChild, tellOf } from './support/child.ts'
import type { ByFunction, Weight } from './support/profiler.ts'
import { interleaved, spreadOf } from './support/rounds.ts'
import { printTable } from './support/table.ts'
import type { VariantName } from './support/variants.ts'

const quick = process.argv.includes('--quick')
const only = process.argv.find((arg) => arg.startsWith('--client='))?.slice('--client='.length)
const rounds = quick ? 20 : 60
const load = { calls: 200, concurrency: 50 }
// V8 compiles 70 to 100 functions once more after about 11,000 calls
const warmUp = { calls: 14_000, concurrency: 50 }
const weighed = { calls: 3_000, concurrency: 50 }
const variants = ['bare', 'wrapper by hand', 'Tokenlane'] as const satisfies VariantName[]
const functionsShown = Number(process.argv.find((arg) => arg.startsWith('--functions='))?.slice(12) ?? 10)

/** What was seen of one variant; times in microseconds per call. */
interface Seen {
  /** Of the main thread, by function: its share of the samples, of the time without the profiler. */
  readonly times: ByFunction
  /** Of threads that compile and collect garbage. */
  readonly otherThreads: number
  readonly sum: number
  readonly weight: Weight
}

for (const scheme of ['http', 'https'] as const) {
  const server = startChild('http-service.ts', { scheme })
  const service = await tellOf<ServicePlace>(server)
  for (const client of ['axios', 'got', 'ky', 'fetch'] as const)
    if (only === undefined || only === client) print(`${client}, ${scheme}`, await profile(client, service))
  server.kill()
}

/** The processes take turns, so that what disturbs one disturbs all. */
async function profile(client: Client, service: ServicePlace): Promise<readonly Seen[]> {
  const callers = new Map<string, Caller>()
  for (const variant of variants) callers.set(variant, await startCaller({ client, variant, service }))
  const callerOf = (name: string): Caller => callers.get(name) as Caller
  for (const name of variants) await callerOf(name).round(warmUp)
  const alone = await interleaved(variants, rounds, (name) => callerOf(name).round(load))
  for (const name of variants) await callerOf(name).profile()
  await interleaved(variants, rounds, (name) => callerOf(name).round(load))
  const seen: Seen[] = []
  for (const name of variants) {
    const caller = callerOf(name)
    const shares = await caller.shares()
    const weight = await caller.weigh(weighed)
    caller.stop()
    const figures = alone.get(name) ?? []
    const sum = quietOf(figures, 'cpu')
    const mainThread = Math.min(sum, quietOf(figures, 'mainThread'))
    seen.push({ times: scaled(shares, mainThread), otherThreads: sum - mainThread, sum, weight })
  }
  return seen
}

/** What a quarter of the rounds took at most: what disturbs only ever adds. */
function quietOf(figures: readonly Figure[], key: keyof Figure): number {
  return spreadOf(figures.map((figure) => figure[key])).low
}

function scaled(shares: ByFunction, total: number): ByFunction {
  return Object.fromEntries(Object.entries(shares).map(([place, share]) => [place, share * total]))
}

function print(title: string, seen: readonly Seen[]): void {
  const row = (what: string, figures: readonly number[]): Record<string, string> => {
    const [bare = 0, byHand = 0, ours = 0] = figures
    const cells = { bare, 'wrapper by hand': byHand, Tokenlane: ours, 'over the wrapper': ours - byHand }
    const texts = Object.entries(cells).map(([name, value]) => [name, value.toFixed(1)])
    return { 'per call': what, ...Object.fromEntries(texts) }
  }
  const rowsBy = (places: readonly ByFunction[], unit: string): [number, Record<string, string>][] =>
    Array.from(new Set(places.flatMap(Object.keys)), (place) => {
      const figures = places.map((each) => (Object.hasOwn(each, place) ? (each[place] ?? 0) : 0))
      return [(figures[2] ?? 0) - (figures[1] ?? 0), row(`${place}${unit}`, figures)]
    })
  const largest = (places: readonly ByFunction[]): Record<string, string>[] =>
    rowsBy(places, '')
      .toSorted(([a], [b]) => Math.abs(b) - Math.abs(a))
      .slice(0, functionsShown)
      .map(([, cells]) => cells)

  const times = seen.map((each) => each.times)
  const bytes = seen.map(({ weight }) => weight.bytes)
  printTable(`${title}: µs of CPU by package, in the quiet ones of ${rounds} rounds of ${load.calls} calls`, [
    ...rowsBy(times.map(byPackage), '')
      .toSorted(([a], [b]) => b - a)
      .map(([, cells]) => cells),
    row(
      'threads that compile and collect',
      seen.map(({ otherThreads }) => otherThreads),
    ),
    row(
      'sum',
      seen.map(({ sum }) => sum),
    ),
  ])
  printTable(`${title}: what else a call takes`, [
    row('bytes', bytes.map(sumOf)),
    row(
      'promises',
      seen.map(({ weight }) => weight.promises),
    ),
    row(
      'turns of promises',
      seen.map(({ weight }) => weight.turns),
    ),
    row(
      'µs of pauses for garbage',
      seen.map(({ weight }) => weight.pauses),
    ),
  ])
  printTable(`${title}: functions that differ most, in µs of CPU`, largest(times))
  printTable(`${title}: functions that differ most, in bytes`, largest(bytes))
}

/** `axios`, `node:_http_client`, or what the runtime calls it where no file is known. */
function byPackage(times: ByFunction): ByFunction {
  const packages: ByFunction = {}
  for (const [place, time] of Object.entries(times)) {
    const name = packageOf(place)
    packages[name] = (packages[name] ?? 0) + time
  }
  return packages
}

function packageOf(place: string): string {
  if (place === '(garbage collector)') return 'garbage collector'
  const file = / (\S+):\d+$/.exec(place)?.[1]
  if (file === undefined) return 'the runtime, native'
  if (file.startsWith('node:')) return "the runtime's modules"
  return /^(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? file
}

function sumOf(places: ByFunction): number {
  return Object.values(places).reduce((sum, each) => sum + each, 0)
}
