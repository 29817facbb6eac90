// Draws the charts of the documentation from the tables in docs/benchmarks.md: pnpm bench:charts, and the end of pnpm bench.
import { readFileSync, writeFileSync } from 'node:fs'
import { drawChart } from '@tokenlane/charts'

const docs = new URL('../../docs/', import.meta.url)
const text = readFileSync(new URL('benchmarks.md', docs), 'utf8')

/** The rows of the first table below a heading, as cells by the name of their row. */
function rowsOf(heading: string): Map<string, string[]> {
  const section = text.slice(text.indexOf(`\n## ${heading}\n`) + 1).split('\n## ')[0] ?? ''
  const rows = Array.from(section.matchAll(/^\|(.+)\|$/gm), ([, row = '']) =>
    row.split('|').map((cell) => cell.trim()),
  )
  return new Map(rows.map(([name = '', ...cells]) => [name, cells]))
}

const storms = rowsOf('Storms')
const rates = rowsOf('Rate policies')
const number = (cell: string | undefined): number =>
  Number(/[\d,]+/.exec(cell ?? '')?.[0].replaceAll(',', ''))

/** The cell of every peer in a column of the storms, its first or second number. */
function storm(column: number, part: 0 | 1): { who: string; value: number }[] {
  const names = [
    'Tokenlane',
    'by hand: a cache',
    'by hand: single flight',
    'google-auth-library',
    '@azure/msal-node',
  ]
  return names.map((who) => ({ who, value: number(storms.get(who)?.[column]?.split('/')[part]) }))
}

const limited = [
  { who: 'Tokenlane', value: number(rates.get('100/1 s')?.[2]) },
  ...['p-queue', 'p-throttle'].map((who) => ({
    who,
    value: number(rates.get(`100/1 s, ${who} strict`)?.[2]),
  })),
]

function bars(title: string, values: { who: string; value: number }[]): object {
  for (const { who, value } of values)
    if (Number.isNaN(value)) throw new Error(`${title}: no figure for ${who}`)
  const encoding = {
    y: {
      field: 'who',
      type: 'nominal',
      sort: null,
      title: null,
      axis: { labelLimit: 500, minExtent: 160, ticks: false },
    },
    x: { field: 'value', type: 'quantitative', title: null, axis: null },
  }
  return {
    title,
    width: 420,
    height: { step: 24 },
    data: { values },
    layer: [
      {
        mark: { type: 'bar', height: 14 },
        encoding: {
          ...encoding,
          color: {
            condition: { test: "datum.who === 'Tokenlane'", value: '#009e73' },
            value: '#999999',
          },
        },
      },
      {
        mark: { type: 'text', align: 'left', dx: 6 },
        encoding: { ...encoding, text: { field: 'value', type: 'quantitative', format: ',' } },
      },
    ],
  }
}

const spec = {
  vconcat: [
    bars('Token requests for 10,000 first calls', storm(0, 0)),
    bars('Calls lost of 1,000 in flight when the token is revoked', storm(2, 1)),
    bars('429s at 100 calls a second for 10 s (Tokenlane: 60 s)', limited),
  ],
}
writeFileSync(
  new URL('images/peers.svg', docs),
  await drawChart(
    spec as never,
    'Token requests, lost calls and 429s of Tokenlane and of other ways, measured in one run',
  ),
)
