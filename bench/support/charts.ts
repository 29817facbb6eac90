// Draws the charts of the documentation from the tables in docs/measurements.md, also at the end of `pnpm bench`. With
// `--check` it compares them.
import { readFileSync, writeFileSync } from 'node:fs'
import { drawChart } from '@tokenlane/charts'

import { barChart, linesOf, type Bar, type Look } from './bar-chart.ts'
import { comparisons, figuresOf } from './front.ts'
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

const [near] = tablesOf(page, 'Rate policies')
const ways = (near?.rows ?? []).map((row) => row['queue'] ?? '')
const refused = barsOf(near, ways, '2 s', true)

// the tables of the README, a row of charts for each
const peersLabel =
  "The README's tables: token requests, lost calls, shares of a quota and 429s of Tokenlane and others"
const peerCharts = comparisons.map((comparison) => {
  const [table] = tablesOf(page, comparison.section)
  if (table === undefined) throw new Error(`docs/measurements.md has no table in ${comparison.section}`)
  const circumstances = comparison.first === 'measured' ? '' : `, ${comparison.first}`
  return figuresOf(table, comparison).map(({ says, figures }) => ({
    title: `${says.charAt(0).toUpperCase()}${says.slice(1)}${circumstances}`,
    bars: figures.map(([who, text]) => ({ who, value: numberIn(text), text })),
  }))
})
await draw(
  'peers',
  peersLabel,
  peerCharts.map((row) => ({
    bounds: 'flush',
    spacing: 100,
    // the first has the names of all
    hconcat: row.map(({ title, bars }, index) =>
      barChart(linesOf(title, 25).join('\n'), bars, { width: 100, names: index === 0 ? 140 : 0 }),
    ),
  })),
)
await draw(
  'peers-narrow',
  peersLabel,
  peerCharts.flat().map(({ title, bars }) => barChart(title, bars, narrow)),
)
await drawBoth(
  'bench-rate',
  'The share of the quota that each queue uses with an API that takes 2 s, and its 429s',
  (look) => [
    barChart('Share of the quota of an API\nthat takes 2 s for a response', barsOf(near, ways, '2 s'), {
      ...look,
      format: '.2f',
    }),
    barChart('429 responses in 1,000 calls', refused, look),
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
const fleets = (fleet?.rows ?? []).filter((row) => row['share of quota'] !== '')
await drawBoth(
  'bench-fleet',
  'The rate that eight processes reach together on one budget in Redis',
  (look) => [
    barChart(
      'Rate of eight processes together,\nas a share of the quota',
      fleets.map((row) => ({
        // short enough for a phone
        who: `Tokenlane, ${Object.values(row)[0]?.replace('25/1 s, Redis killed for 10 s', 'Redis down')}`,
        value: numberIn(row['share of quota']),
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
