// How many token requests a storm costs, and how many calls it loses, beside what else people put on their calls.
import type { StormFigures, StormOrder } from './children/storm.ts'
import { peers } from './peers/all.ts'
import { startChild, tellOf } from './support/child.ts'
import { printTable, share } from './support/figures.ts'

type Storm = StormOrder['storm']

const quick = process.argv.includes('--quick')
const headings: Readonly<Record<Storm, string>> = {
  first: 'first calls',
  expiry: 'expiry',
  revocation: 'revoked',
  outage: '2 s down',
  'long outage': '30 s down',
  refusal: 'refused',
}

const names = Object.keys(peers)
const requests = names.map((way): Record<string, string> => ({ way }))
const losses = names.map((way): Record<string, string> => ({ way }))
for (const storm of Object.keys(headings) as Storm[]) {
  if (quick && storm === 'long outage') continue
  const heading = headings[storm]
  for (const [index, figures] of (await run(storm)).entries()) {
    const [asked, lost] = [requests[index] ?? {}, losses[index] ?? {}]
    asked[heading] = figures.tokenRequests.toLocaleString('en-US')
    // callers whose calls fail at once make more of them
    if (isOutage(storm)) lost[`${heading}, %`] = share(figures.lost / figures.calls)
    else lost[heading] = figures.lost.toLocaleString('en-US')
    if (storm === 'expiry') lost['slowest at expiry, ms'] = figures.slowest.toFixed(0)
  }
}
printTable('Token requests; each takes 200 ms', requests)
printTable('Lost calls, in outages as a share of all calls', losses)

/** Each alone, except in the outages, in which all have little to do. */
async function run(storm: Storm): Promise<StormFigures[]> {
  const measure = (peer: string): Promise<StormFigures> =>
    tellOf<StormFigures>(startChild('storm.ts', { peer, storm } satisfies StormOrder))
  if (isOutage(storm)) return Promise.all(names.map(measure))
  const figures: StormFigures[] = []
  for (const name of names) figures.push(await measure(name))
  return figures
}

function isOutage(storm: Storm): boolean {
  return storm === 'outage' || storm === 'long outage'
}
