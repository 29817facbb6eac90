// Draws the charts of the documentation from the tables in docs/measurements.md, also at the end of `pnpm bench`. With
// `--check` it compares them.
import { readFileSync, writeFileSync } from 'node:fs'
import { drawChart } from '@tokenlane/charts'

import { barChart, type Bar, type Look } from './bar-chart.ts'
import { numberIn, tablesOf, type PageTable } from './tables.ts'

const docs = new URL('../../docs/', import.meta.url)
/** For phones. */
const narrow: Look = { width: 240, names: 'above' }
const page = readFileSync(new URL('measurements.md', docs), 'utf8')

/** The cell of a row, by the text in its first column. */
function cell(table: PageTable | undefined, name: string, column: string): string | undefined {
  return table?.rows.find((row) => Object.values(row)[0] === name)?.[column]
}

/** A bar for each row, with the first number of its cell, or the one behind it: `450 / 4,794`, `0.98 (0.1)`. */
function barsOf(
  table: PageTable | undefined,
  names: readonly string[],
  column: string,
  behind = false,
): Bar[] {
  return names.map((who) => {
    const text = cell(table, who, column)
    return { who, value: numberIn(behind ? text?.split(/[/(]/)[1] : text) }
  })
}

const [storms] = tablesOf(page, 'Storms')
const [near] = tablesOf(page, 'Rate policies')
const stormPeers = [
  'Tokenlane',
  'by hand: single flight',
  'by hand: a cache',
  'google-auth-library',
  '@azure/msal-node',
]
const ways = (near?.rows ?? []).map((row) => row['queue'] ?? '')
const refused = barsOf(near, ways, '2 s', true)
const peersLabel = 'Token requests, lost calls and 429s of Tokenlane and of other ways, measured in one run'
const comparisons = [
  ['Token requests\nfor 10,000 first calls', barsOf(storms, stormPeers, '10,000 first calls')],
  [
    'Calls lost of 1,000 in flight\nwhen the token is revoked',
    barsOf(storms, stormPeers, 'revoked, 1,000', true),
  ],
  ['Calls lost while the issuer\nis down for 2 s', barsOf(storms, stormPeers, '2 s outage', true)],
  [
    '429s in 1,000 calls, while\nan API takes 2 s',
    // the strict ones, by the name of their package
    refused.flatMap(({ who, value }) =>
      who.endsWith(', strict') ? { who: who.split(',')[0] ?? '', value } : [],
    ),
  ],
] as const
/** For the width of a page: two beside each other, the second with the names of the first. */
const [firstCalls, revoked, outage, tooFast] = comparisons.map(([title, bars], index) =>
  barChart(title, bars, { width: 200, names: [150, 0, 150, 80][index] ?? 0 }),
)
await draw('peers', peersLabel, [
  { hconcat: [firstCalls, revoked] },
  { hconcat: [outage, tooFast] },
] as object[])
await draw(
  'peers-narrow',
  peersLabel,
  comparisons.map(([title, bars]) => barChart(title, bars, narrow)),
)
await drawBoth(
  'bench-rate',
  'The share of the quota that each way gets at an API that takes 2 s, and its 429s',
  (look) => [
    barChart('Share of the quota of an API\nthat takes 2 s for a response', barsOf(near, ways, '2 s'), {
      ...look,
      format: '.2f',
    }),
    barChart('Responses of 429 in 1,000 calls', refused, look),
  ],
)

const [hotPath] = tablesOf(page, 'Hot path')
await drawBoth(
  'bench-hot-path',
  'Nanoseconds to authorize one call with a live token, of Tokenlane and its peers',
  (look) => [
    barChart(
      'Nanoseconds of CPU to authorize a call\nwith a live token (logarithmic)',
      barsOf(
        hotPath,
        [
          'Tokenlane: route and token',
          'by hand: a cache',
          'by hand: single flight',
          '@badgateway/oauth2-client',
          'google-auth-library',
          '@azure/core-rest-pipeline',
          '@azure/msal-node',
        ],
        'ns of CPU',
      ),
      { ...look, logarithmic: true },
    ),
  ],
)

const [queue] = tablesOf(page, 'Queue')
const queues = ['p-queue', 'Tokenlane', 'p-throttle', 'p-queue, 10 priorities', 'Tokenlane, 10 priorities']
await drawBoth('bench-queue', 'Time and heap of 100,000 waiting calls, relative to p-queue', (look) => [
  barChart('Time to add and drain a call, p-queue = 1', barsOf(queue, queues, 'add + drain'), {
    ...look,
    format: '.2f',
  }),
  barChart('Heap of a waiting call, p-queue = 1', barsOf(queue, queues, 'heap'), { ...look, format: '.2f' }),
])

await drawBoth(
  'bench-whole-call',
  'CPU time of a whole call through each client, relative to the bare client',
  (look) =>
    tablesOf(page, 'Whole call').map((table) =>
      barChart(
        `${table.title}: CPU time of a call, bare = 1`,
        barsOf(
          table,
          ['bare', 'wrapper by hand', 'Tokenlane', 'wrapper, p-queue', 'Tokenlane, policy'],
          'CPU, quiet rounds',
        ),
        { ...look, format: '.2f' },
      ),
    ),
)

const [fleet] = tablesOf(page, 'Fleet')
const fleets = (fleet?.rows ?? []).filter((row) => row['of the quota'] !== '')
await drawBoth(
  'bench-fleet',
  'The rate that eight processes reach together on one budget in Redis',
  (look) => [
    barChart(
      'Rate of eight processes together,\nof the quota',
      fleets.map((row) => ({
        // short enough for a phone
        who: `Tokenlane, ${Object.values(row)[0]?.replace('25/1 s, Redis killed for 10 s', 'Redis down')}`,
        value: numberIn(row['of the quota']),
      })),
      { ...look, format: '.3f' },
    ),
  ],
)

/** Draws a picture for a page, and one that a phone shows without making it smaller. */
async function drawBoth(
  name: string,
  label: string,
  chartsOf: (look: Look) => readonly object[],
): Promise<void> {
  await draw(name, label, chartsOf({}))
  await draw(`${name}-narrow`, label, chartsOf(narrow))
}

async function draw(name: string, label: string, charts: readonly object[]): Promise<void> {
  const file = new URL(`images/${name}.svg`, docs)
  const picture = await drawChart({ vconcat: charts } as never, label)
  if (!process.argv.includes('--check')) return writeFileSync(file, picture)
  if (readFileSync(file, 'utf8') === picture) return
  console.error(`docs/images/${name}.svg is not what docs/measurements.md says`)
  process.exitCode = 1
}
