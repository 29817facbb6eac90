// What it costs to queue a call and to let it go, beside the queues that people use, and to take calls out again.
import { startChild, tellOf } from './support/child.ts'
import { median } from './support/median.ts'
import type { QueueFigures, QueueOrder } from './children/queue-contender.ts'
import { printTable } from './support/table.ts'

const rounds = process.argv.includes('--quick') ? 3 : 5

interface Case extends QueueOrder {
  readonly name: string
}

const many = { calls: 100_000, priorities: 1, aborted: 0 }
const cost: readonly Case[] = [
  { ...many, name: 'p-queue', contender: 'p-queue' },
  { ...many, name: 'Tokenlane', contender: 'tokenlane' },
  { ...many, name: 'p-throttle', contender: 'p-throttle' },
  { ...many, name: 'bottleneck, 5,000 calls', contender: 'bottleneck', calls: 5_000 },
  { ...many, name: 'p-queue, 10 priorities', contender: 'p-queue', priorities: 10 },
  { ...many, name: 'Tokenlane, 10 priorities', contender: 'tokenlane', priorities: 10 },
]
const abort: readonly Case[] = [
  { ...many, name: 'p-queue', contender: 'p-queue', aborted: 1_000 },
  { ...many, name: 'Tokenlane', contender: 'tokenlane', aborted: 1_000 },
]

const costs = await medians(cost)
const base = costs[0] as QueueFigures
printTable(
  `100,000 calls queued, then drained through 50 slots: CPU time and heap per call, medians of ${rounds} rounds; bare p-queue is 1`,
  costs.map((figures, index) => ({
    queue: cost[index]?.name ?? '',
    'add + drain': ((figures.add + figures.drain) / (base.add + base.drain)).toFixed(2),
    heap: (figures.bytes / base.bytes).toFixed(2),
    'us to add': figures.add.toFixed(2),
    'us to drain': figures.drain.toFixed(2),
    'bytes that wait': figures.bytes.toFixed(0),
  })),
)
const aborts = await medians(abort)
printTable(
  `1,000 of 100,000 queued calls aborted, each with a signal of its own; bare p-queue is 1`,
  aborts.map((figures, index) => ({
    queue: abort[index]?.name ?? '',
    abort: (figures.abort / (aborts[0]?.abort ?? 0)).toFixed(3),
    'us per abort': figures.abort.toFixed(1),
    'calls that still wait': String(figures.queued),
    'KB left when all is over': (figures.left / 1_000).toFixed(0),
  })),
)

/** The rounds of all cases are interleaved, so that a disturbance hits them alike. */
async function medians(cases: readonly Case[]): Promise<QueueFigures[]> {
  const seen: QueueFigures[][] = cases.map(() => [])
  for (let round = 0; round < rounds; round += 1)
    for (const [index, { name: _name, ...order }] of cases.entries())
      seen[index]?.push(await tellOf<QueueFigures>(startChild('queue-contender.ts', order)))
  return seen.map((figures) => {
    const middle = (key: keyof QueueFigures): number => median(figures.map((each) => each[key]))
    return {
      add: middle('add'),
      drain: middle('drain'),
      bytes: middle('bytes'),
      abort: middle('abort'),
      left: middle('left'),
      queued: middle('queued'),
    }
  })
}
