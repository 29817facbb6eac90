// What it costs to queue a call and to let it go, beside the queues that people use, and to take calls out again.
import { startChild, tellOf } from './support/child.ts'
import { median, printTable } from './support/figures.ts'
import type { QueueFigures, QueueOrder } from './children/queue-contender.ts'

const rounds = 3

interface Case extends QueueOrder {
  readonly name: string
}

const many = { calls: 100_000, priorities: 1, aborted: 0 }
const cost: readonly Case[] = [
  { ...many, name: 'p-queue', contender: 'p-queue' },
  { ...many, name: 'Tokenlane', contender: 'tokenlane' },
  { ...many, name: 'p-throttle', contender: 'p-throttle' },
  { ...many, name: 'rate-limiter-flexible', contender: 'rate-limiter-flexible' },
  { ...many, name: 'bottleneck, 2,000 calls', contender: 'bottleneck', calls: 2_000 },
  { ...many, name: 'p-queue, 10 priorities', contender: 'p-queue', priorities: 10 },
  { ...many, name: 'Tokenlane, 10 priorities', contender: 'tokenlane', priorities: 10 },
]
const abort: readonly Case[] = [
  { ...many, name: 'p-queue', contender: 'p-queue', aborted: 1_000 },
  { ...many, name: 'Tokenlane', contender: 'tokenlane', aborted: 1_000 },
]

const million = { ...many, calls: 1_000_000 }
const growth: readonly Case[] = [
  { ...many, name: 'p-queue, 100,000', contender: 'p-queue' },
  { ...million, name: 'p-queue, 1,000,000', contender: 'p-queue' },
  { ...many, name: 'Tokenlane, 100,000', contender: 'tokenlane' },
  { ...million, name: 'Tokenlane, 1,000,000', contender: 'tokenlane' },
]

const costs = await medians(cost, rounds)
printTable(
  `100,000 calls queued, then drained through 50 slots: CPU time and heap per call, medians of ${rounds} rounds (bare p-queue = 1)`,
  rowsOf(cost, costs),
)
printTable(
  'The same with 100,000 and with 1,000,000 calls, one round (bare p-queue with 100,000 calls = 1)',
  rowsOf(growth, await medians(growth, 1)),
)
const aborts = await medians(abort, rounds)
printTable(
  `1,000 of 100,000 queued calls aborted, each with its own signal (bare p-queue = 1)`,
  aborts.map((figures, index) => ({
    queue: abort[index]?.name ?? '',
    abort: (figures.abort / (aborts[0]?.abort ?? 0)).toFixed(3),
    'µs per abort': figures.abort.toFixed(1),
    'calls still waiting': String(figures.queued),
    'KB left at the end': (figures.left / 1_000).toFixed(0),
  })),
)

function rowsOf(cases: readonly Case[], all: readonly QueueFigures[]): Record<string, string>[] {
  const [first] = all
  const base = { cost: first ? first.add + first.drain : 0, bytes: first?.bytes ?? 0 }
  return all.map((figures, index) => ({
    queue: cases[index]?.name ?? '',
    'add + drain': ((figures.add + figures.drain) / base.cost).toFixed(2),
    heap: (figures.bytes / base.bytes).toFixed(2),
    'µs to add': figures.add.toFixed(2),
    'µs to drain': figures.drain.toFixed(2),
    'bytes per waiting call': figures.bytes.toFixed(0),
  }))
}

/** The rounds of all cases are interleaved, so that a disturbance hits them alike. */
async function medians(cases: readonly Case[], times: number): Promise<QueueFigures[]> {
  const seen: QueueFigures[][] = cases.map(() => [])
  for (let round = 0; round < times; round += 1)
    for (const [index, { name: _name, ...order }] of cases.entries())
      seen[index]?.push(await tellOf<QueueFigures>(startChild('queue-contender.ts', order)))
  return seen.map((figures) => {
    const keys = Object.keys(figures[0] ?? {}) as (keyof QueueFigures)[]
    const middles = keys.map((key) => [key, median(figures.map((each) => each[key]))])
    return Object.fromEntries(middles)
  })
}
