// How many token requests a storm costs, and how many calls it loses, beside what else people put on their calls.
import type { StormFigures, StormOrder } from './children/storm.ts'
import { peers } from './peers/all.ts'
import { startChild, tellOf } from './support/child.ts'
import { printTable } from './support/table.ts'

type Storm = StormOrder['storm']

const quick = process.argv.includes('--quick')
const headings: Readonly<Record<Storm, string>> = {
  first: '10,000 first calls',
  expiry: 'expiry, 200 callers',
  revocation: 'revoked, 1,000',
  outage: '2 s outage',
  'long outage': '30 s outage',
  refusal: 'refused, 1,000',
}

const names = Object.keys(peers)
const rows = names.map((name): Record<string, string> => ({ 'requests / lost calls': name }))
for (const storm of Object.keys(headings) as Storm[]) {
  if (quick && storm === 'long outage') continue
  const figures = await run(storm)
  for (const [index, each] of figures.entries()) (rows[index] ?? {})[headings[storm]] = cellOf(storm, each)
}
printTable(
  'Token requests / lost calls. A token request takes 200 ms. After the colon: how long the slowest call took. After "of": how many calls were made.',
  rows,
)

/** Each alone, except in the outages, in which all have little to do. */
async function run(storm: Storm): Promise<StormFigures[]> {
  const measure = (peer: string): Promise<StormFigures> =>
    tellOf<StormFigures>(startChild('storm.ts', { peer, storm } satisfies StormOrder))
  if (isOutage(storm)) return Promise.all(names.map(measure))
  const figures: StormFigures[] = []
  for (const name of names) figures.push(await measure(name))
  return figures
}

function cellOf(storm: Storm, { tokenRequests, lost, calls, slowest }: StormFigures): string {
  const count = (value: number): string => value.toLocaleString('en-US')
  // a peer that fails at once comes back sooner, so the number of calls says something too
  const of = isOutage(storm) ? ` of ${count(calls)}` : ''
  const blocked = storm === 'expiry' ? `: ${Math.round(slowest)} ms` : ''
  return `${count(tokenRequests)} / ${count(lost)}${of}${blocked}`
}

function isOutage(storm: Storm): boolean {
  return storm === 'outage' || storm === 'long outage'
}
