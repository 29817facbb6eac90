// What a whole call costs through each client on loopback: bare, with what people write by hand, and with Tokenlane.
import type { Figure, WholeCallFigures, WholeCallOrder } from './children/whole-call.ts'
import { startChild, tellOf } from './support/child.ts'
import { spreadOf, spreadText } from './support/rounds.ts'
import { printTable } from './support/table.ts'
import { variantNames } from './support/variants.ts'

const quick = process.argv.includes('--quick')
const load = { rounds: quick ? 31 : 101, calls: 100, concurrency: 50 }

const service = startChild('http-service.ts', {})
const serviceUrl = await tellOf<string>(service)
for (const client of ['axios', 'got', 'ky', 'fetch'] as const) {
  const order: WholeCallOrder = { client, serviceUrl, ...load }
  const figures = await tellOf<WholeCallFigures>(startChild('whole-call.ts', order))
  printTable(
    `${client}: medians of ${load.rounds} rounds of ${load.calls.toLocaleString('en-US')} calls, 50 at a time, half of the rounds within; the bare client of the same round is 1`,
    rowsOf(figures),
  )
}
service.kill()

function rowsOf(figures: WholeCallFigures): Record<string, string>[] {
  return variantNames
    .filter((name) => name in figures)
    .map((name) => {
      const all = figures[name] ?? []
      const post = name.endsWith('POST') ? ', POST' : ''
      const bare = figures[`bare${post}`] ?? []
      const byHand = figures[`wrapper by hand${post}`] ?? []
      return {
        call: name,
        time: ratio(all, bare, 'time'),
        'CPU time': ratio(all, bare, 'cpu'),
        'CPU, quiet rounds': (quietOf(all) / quietOf(bare)).toFixed(3),
        'of the wrapper': name.startsWith('Tokenlane') ? (quietOf(all) / quietOf(byHand)).toFixed(3) : '',
        'µs of CPU': quietOf(all).toFixed(1),
      }
    })
}

/** Round by round, since what disturbs a round disturbs all of it. */
function ratio(figures: readonly Figure[], base: readonly Figure[], key: keyof Figure): string {
  const ratios = figures.map((figure, round) => figure[key] / (base[round]?.[key] ?? Number.NaN))
  return spreadText(spreadOf(ratios), 3)
}

/** Microseconds of CPU per call where only a quarter of the rounds took less: what disturbs only ever adds. */
function quietOf(figures: readonly Figure[]): number {
  return spreadOf(figures.map(({ cpu }) => cpu)).low
}
