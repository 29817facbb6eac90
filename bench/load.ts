// As many calls as two cores carry, one for the client and one for the server: how many, how long, how evenly.
import type { Client, Load } from './children/caller.ts'
import type { ServicePlace } from './children/http-service.ts'
import { startCaller, type Caller } from './support/caller.ts'
import { startChild, tellOf } from './support/child.ts'
import { interleaved } from './support/rounds.ts'
import { printTable } from './support/table.ts'
import type { VariantName } from './support/variants.ts'

const quick = process.argv.includes('--quick')
const only = process.argv.find((arg) => arg.startsWith('--client='))?.slice('--client='.length)
/** Each variant's 10 s are taken in short turns: the machine is not equally fast for a whole run. */
const turns = quick ? 4 : 20
const turn = 500
const concurrency = 50
const variants = [
  'bare',
  'constant header',
  'wrapper by hand',
  'Tokenlane',
  'Tokenlane, policy',
] as const satisfies VariantName[]

const server = startChild('http-service.ts', { scheme: 'http' })
const service = await tellOf<ServicePlace>(server)
for (const client of ['axios', 'got', 'ky', 'fetch'] as const) {
  if (only !== undefined && only !== client) continue
  printTable(
    `${client}: as many calls as it can make in ${(turns * turn) / 1_000} s, ${concurrency} at a time (the bare client = 1)`,
    rowsOf(await measure(client)),
  )
}
server.kill()

/** What the turns of one variant found, and the bytes of heap after the last. */
interface Carried {
  readonly loads: readonly Load[]
  readonly heap: number
}

async function measure(client: Client): Promise<Map<string, Carried>> {
  const callers = new Map<string, Caller>()
  for (const variant of variants) callers.set(variant, await startCaller({ client, variant, service }))
  const callerOf = (name: string): Caller => callers.get(name) as Caller
  for (const name of variants) await callerOf(name).round({ calls: 4_000, concurrency })
  const loads = await interleaved(variants, turns, (name) => callerOf(name).load(turn, concurrency))
  const carried = new Map<string, Carried>()
  for (const name of variants)
    carried.set(name, { loads: loads.get(name) ?? [], heap: await callerOf(name).heap() })
  for (const caller of callers.values()) caller.stop()
  return carried
}

function rowsOf(carried: ReadonlyMap<string, Carried>): Record<string, string>[] {
  const figures = new Map(Array.from(carried, ([name, each]) => [name, figuresOf(each)]))
  const bare = figures.get('bare')
  const header = figures.get('constant header')
  return variants.map((name) => {
    const { calls, p50, p99, p999, pause, heap } = figures.get(name) as Figures
    return {
      call: name,
      'calls vs. bare': (calls / (bare?.calls ?? 0)).toFixed(3),
      'calls vs. constant header': (calls / (header?.calls ?? 0)).toFixed(3),
      'calls a second': calls.toFixed(0),
      p50: `${p50.toFixed(1)} ms`,
      p99: `${p99.toFixed(1)} ms`,
      'p99 vs. bare': (p99 / (bare?.p99 ?? 0)).toFixed(2),
      'p99.9': `${p999.toFixed(1)} ms`,
      'longest pause': `${pause.toFixed(0)} ms`,
      'MB of heap after': (heap / 1e6).toFixed(1),
    }
  })
}

interface Figures {
  readonly calls: number
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly pause: number
  readonly heap: number
}

function figuresOf({ loads, heap }: Carried): Figures {
  const sorted = loads.flatMap(({ latencies }) => latencies).toSorted((a, b) => a - b)
  const at = (share: number): number => (sorted[Math.floor(sorted.length * share)] ?? Number.NaN) / 1_000
  const seconds = loads.reduce((sum, { ms }) => sum + ms, 0) / 1_000
  return {
    calls: sorted.length / seconds,
    p50: at(0.5),
    p99: at(0.99),
    p999: at(0.999),
    pause: Math.max(...loads.map(({ longestPause }) => longestPause)),
    heap,
  }
}
