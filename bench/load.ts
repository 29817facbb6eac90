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
/** Each variant's 10 s are taken in turns, so that what disturbs one disturbs all. */
const turns = 4
const turn = quick ? 500 : 2_500
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
    `${client}: ${(turns * turn) / 1_000} s of as many calls as it carries, ${concurrency} at a time; the bare client is 1`,
    rowsOf(await measure(client)),
  )
}
server.kill()

async function measure(client: Client): Promise<Map<string, Load[]>> {
  const callers = new Map<string, Caller>()
  for (const variant of variants) callers.set(variant, await startCaller({ client, variant, service }))
  const callerOf = (name: string): Caller => callers.get(name) as Caller
  for (const name of variants) await callerOf(name).round({ calls: 4_000, concurrency })
  const loads = await interleaved(variants, turns, (name) => callerOf(name).load(turn, concurrency))
  for (const caller of callers.values()) caller.stop()
  return loads
}

function rowsOf(loads: ReadonlyMap<string, readonly Load[]>): Record<string, string>[] {
  const figures = new Map(variants.map((name) => [name, figuresOf(loads.get(name) ?? [])]))
  const bare = figures.get('bare')
  const header = figures.get('constant header')
  return variants.map((name) => {
    const { calls, p50, p99, p999, pause, heap } = figures.get(name) as Figures
    return {
      call: name,
      calls: (calls / (bare?.calls ?? 0)).toFixed(3),
      'calls, to the constant header': (calls / (header?.calls ?? 0)).toFixed(3),
      'a second': calls.toFixed(0),
      p50: `${p50.toFixed(1)} ms`,
      p99: `${p99.toFixed(1)} ms`,
      'p99 to bare': (p99 / (bare?.p99 ?? 0)).toFixed(2),
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

function figuresOf(loads: readonly Load[]): Figures {
  const sorted = loads.flatMap(({ latencies }) => latencies).toSorted((a, b) => a - b)
  const at = (share: number): number => (sorted[Math.floor(sorted.length * share)] ?? Number.NaN) / 1_000
  const seconds = loads.reduce((sum, { ms }) => sum + ms, 0) / 1_000
  return {
    calls: sorted.length / seconds,
    p50: at(0.5),
    p99: at(0.99),
    p999: at(0.999),
    pause: Math.max(...loads.map(({ longestPause }) => longestPause)),
    heap: loads.at(-1)?.heap ?? Number.NaN,
  }
}
