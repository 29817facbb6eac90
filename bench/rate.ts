// How much of an API's quota a client gets that always has more calls than it may send, by how long the API takes for a
// response and by network; and how often it goes over the quota.
import type { CallerFigures, CallerOrder } from './children/quota-caller.ts'
import type { ApiFigures, ApiOrder } from './children/slow-api.ts'
import { startChild, tellOf } from './support/child.ts'
import { answerTimes, printTable, share } from './support/figures.ts'

const duration = process.argv.includes('--quick') ? 15_000 : 60_000
/** Until the first burst is over and `learned` has learned. */
const warmUp = 10_000

const quota = 25
const window = 1_000
const ways = [
  'Tokenlane, strict',
  'Tokenlane, learned',
  'p-queue, strict',
  'p-throttle, strict',
  'bottleneck, minTime',
  'bottleneck, reservoir',
  'rate-limiter-flexible',
]
const networks: readonly ApiOrder['network'][] = [
  [5, 15],
  [50, 100],
  [0, 200],
]

console.log(
  `\nEach client always has more calls than its quota of ${quota} calls a second, for ${duration / 1_000} s. The column headings say how long the API takes to respond. All queues run at the same time, each in its own process, over loopback without TLS.`,
)
for (const network of networks) await measure(network)
process.exit()

/** All ways and all kinds of response time at once: nearly all of it is waiting. */
async function measure(network: ApiOrder['network']): Promise<void> {
  const api = startChild('slow-api.ts', { quota, window, network } satisfies ApiOrder)
  const url = await tellOf<string>(api)
  const callers = ways.map((way, index) => {
    const order: CallerOrder = { way, url: `${url}${index}/`, quota, window, duration: warmUp + duration }
    return tellOf<CallerFigures>(startChild('quota-caller.ts', order))
  })
  const figures = await Promise.all(callers)
  api.send('counts')
  const { counts, pause } = await tellOf<ApiFigures>(api)
  api.kill()
  const kinds = Object.keys(answerTimes)
  const countsOf = (index: number): { accepted: readonly number[]; limited: number }[] =>
    kinds.map((kind) => counts[`/${index}/${encodeURIComponent(kind)}/`] ?? { accepted: [], limited: 0 })
  const rows = (cellOf: (count: { accepted: readonly number[]; limited: number }) => string) =>
    ways.map((queue, index): Record<string, string> => {
      const cells = countsOf(index).map(cellOf)
      return Object.fromEntries([
        ['queue', queue],
        ...kinds.map((kind, column) => [kind, cells[column] ?? '']),
      ])
    })
  const shares = rows(({ accepted }) => shareOf(accepted).toFixed(2))
  for (const [index, { lost, calls, pause: own }] of figures.entries())
    Object.assign(shares[index] ?? {}, {
      'calls lost, %': share(lost / calls),
      'longest pause, ms': own.toFixed(0),
    })
  printTable(
    `Share of the quota. Network delay ${network.join(' to ')} ms each way; longest pause of the API's process: ${pause.toFixed(0)} ms`,
    shares,
  )
  const refused = rows(({ accepted, limited }) => share(limited / (accepted.length + limited), 1_000, 1))
  printTable('429 responses in 1,000 calls, on the same network', refused)
}

/** Over whole rounds of the quota, so that it does not matter where in a burst the measuring begins and ends. */
function shareOf(accepted: readonly number[]): number {
  const steady = accepted.filter((at) => at - (accepted[0] ?? 0) > warmUp)
  const calls = Math.floor((steady.length - 1) / quota) * quota
  return calls / ((steady[calls] ?? 0) - (steady[0] ?? 0)) / (quota / window)
}
