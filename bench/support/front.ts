// What stands on docs/benchmarks.md: tables of docs/measurements.md, taken apart until a cell holds one number.
import { numberIn, type PageTable } from './tables.ts'

type Pick = (cell: string) => string

interface FrontTable {
  /** Stands above the table. */
  readonly says: string
  /** The head of a column with its unit, the column of the measured table, and what is taken from its cell. */
  readonly columns: readonly (readonly [head: string, column: string, pick: Pick])[]
}

interface FrontPart {
  readonly title: string
  /** The heading on docs/measurements.md, and how the line above the table begins. */
  readonly section: string
  readonly caption: string
  readonly says: string
  /** The head of the first column. */
  readonly first: string
  readonly tables: readonly FrontTable[]
}

const whole: Pick = (cell) => cell
const number: Pick = (cell) => cell.match(/\d[\d,]*(?:\.\d+)?/)?.[0] ?? ''
/** The number behind `/`, `(` or `,`, such as 450 of `10 / 450 of 4,794`. */
const second =
  (separator: '/' | '(' | ', '): Pick =>
  (cell) =>
    number(cell.split(separator)[1] ?? '')
/** The number behind a word or a colon, such as 21 of `1 / 0: 21 ms`. */
const behind =
  (mark: string): Pick =>
  (cell) =>
    number(cell.split(mark)[1] ?? '')
/** The percentage that the number before `of` is of the one behind it. */
const percentage: Pick = (cell) => {
  const [some = '', all = ''] = (cell.split('/').at(-1) ?? '').split(' of ')
  const share = (100 * numberIn(some)) / numberIn(all)
  return Number.isNaN(share) ? '' : share.toFixed(share > 0 && share < 10 ? 1 : 0)
}
const rounded =
  (pick: Pick): Pick =>
  (cell) =>
    cell === '' ? '' : Math.round(numberIn(pick(cell))).toLocaleString('en')

const responseTimes = ['1 ms', '300 ms', '2 s', 'lognormal, 300 ms', '100 to 3,000 ms']

export const parts: readonly FrontPart[] = [
  {
    title: 'When something goes wrong',
    section: 'Storms',
    caption: 'Token requests',
    says: 'Each way of getting a token is tested in the same situations: 10,000 calls at once without a token (first calls), 1,000 calls in flight when a token is revoked, and an issuer that is down for 2 s or for 30 s. A call is lost if it gets an error status or no response.',
    first: 'way',
    tables: [
      {
        says: 'Token requests, and lost calls. For outages, the table shows the percentage of calls lost, because callers whose calls fail immediately make more calls:',
        columns: [
          ['requests, first calls', '10,000 first calls', number],
          ['requests, 30 s down', '30 s outage', number],
          ['lost, first calls', '10,000 first calls', second('/')],
          ['lost, revoked', 'revoked, 1,000', second('/')],
          ['lost, 2 s down, %', '2 s outage', percentage],
          ['lost, 30 s down, %', '30 s outage', percentage],
        ],
      },
    ],
  },
  {
    title: 'How much of a quota is used',
    section: 'Rate policies',
    caption: 'Network delay 5 to 15 ms each way',
    says: 'Each queue always has more calls waiting than its quota of 25 calls a second allows. The column headings say how long the API takes to respond. `lognormal, 300 ms` is a lognormal distribution with a median of 300 ms.',
    first: 'queue',
    tables: [
      {
        says: 'Share of the quota that was used, and the percentage of calls that ended in a 429 or another error:',
        columns: [
          ...responseTimes.map((time) => [time, time, number] as const),
          ['lost, %', 'calls lost', percentage],
        ],
      },
    ],
  },
  {
    title: 'One budget for eight processes',
    section: 'Fleet',
    caption: '8 processes',
    says: 'Eight processes share one rate policy in Redis and call a server that enforces it. Each call and each response is delayed by 0 to 200 ms, unless the row says otherwise.',
    first: 'limit, load',
    tables: [
      {
        says: 'Share of the quota that all processes used together, the most calls in any window, and how long calls waited:',
        columns: [
          ['share of quota', 'share of quota', whole],
          ['most in a window', 'most in any window', number],
          ['429s', '429s', whole],
          ['calls lost', 'calls lost', whole],
          ['p50, ms', 'waited p50, p99', rounded(number)],
          ['p99, ms', 'waited p50, p99', rounded(second(', '))],
        ],
      },
    ],
  },
  {
    title: 'The first call of a process',
    section: 'Start-up',
    caption: 'The first call',
    says: 'A command or a cloud function pays for all of this every time it starts: the import, the setup, the token request and the call, over TLS.',
    first: 'first call with',
    tables: [
      {
        says: 'All figures are medians. In the middle half of the rounds, the relative CPU time was between `from` and `to`:',
        columns: [
          ['CPU, first row = 1', 'CPU time', number],
          ['from', 'CPU time', second('(')],
          ['to', 'CPU time', behind(' to ')],
          ['CPU, ms', 'ms of CPU', whole],
          ['time, ms', 'ms', whole],
        ],
      },
    ],
  },
]

/**
 * Returns a table of the front page in Markdown, its numbers to the right.
 *
 * @throws Error when the measured table lacks a column: the bench has changed.
 */
export function frontTable(measured: PageTable, first: string, { says, columns }: FrontTable): string {
  const rows = measured.rows.map((row) => [
    Object.values(row)[0] ?? '',
    ...columns.map(([, column, pick]) => {
      const cell = row[column]
      if (cell === undefined) throw new Error(`docs/measurements.md has no column "${column}"`)
      return pick(cell)
    }),
  ])
  return `${says}\n\n${markdownTable([first, ...columns.map(([head]) => head)], rows)}`
}

/** Returns a table in Markdown: the first column is text, and the others are numbers, to the right. */
function markdownTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = heads.map((_, column) => (column === 0 ? '---' : '---:'))
  return [heads, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('')
}

/** A table of the README: ways beside each other, each by the first cell of its row in the measured table. */
interface Comparison {
  readonly section: string
  /** Begins the line of the README above the table. */
  readonly follows: string
  readonly first: string
  readonly ways: Readonly<Record<string, string>>
  readonly lines: readonly (readonly [says: string, column: string, pick: Pick])[]
}

export const comparisons: readonly Comparison[] = [
  {
    section: 'Storms',
    follows: 'is a way to get tokens for the same calls:',
    first: 'measured',
    ways: {
      Tokenlane: 'Tokenlane',
      'by hand: single flight': 'by hand: single flight',
      'by hand: a cache': 'by hand: a cache',
      'google-auth-library': 'google-auth-library',
      'msal-node': '@azure/msal-node',
    },
    lines: [
      ['token requests for 10,000 calls at once, without a token', '10,000 first calls', number],
      ['calls lost out of 1,000 in flight when the token is revoked', 'revoked, 1,000', second('/')],
      ['% of calls lost while the issuer is down for 2 s', '2 s outage', percentage],
    ],
  },
  {
    section: 'Rate policies',
    follows: 'These queues enforce a quota of 25 calls a second:',
    first: 'with an API that takes 2 s to respond',
    ways: {
      Tokenlane: 'Tokenlane, strict',
      'p-queue': 'p-queue, strict',
      'p-throttle': 'p-throttle, strict',
      bottleneck: 'bottleneck, minTime',
      'rate-limiter-flexible': 'rate-limiter-flexible',
    },
    lines: [
      ['share of the quota used', '2 s', number],
      ['429s in 1,000 calls', '2 s', rounded(second('('))],
    ],
  },
]

/** Returns a table of the README. */
export function comparisonTable(table: PageTable, comparison: Comparison): string {
  const rows = figuresOf(table, comparison).map(({ says, figures }) =>
    [says].concat(figures.map(([, text]) => text)),
  )
  return markdownTable([comparison.first, ...Object.keys(comparison.ways)], rows)
}

/**
 * Returns the lines of a table of the README, with a figure for each way.
 *
 * @throws Error when the measured table lacks a way or a column: the bench has changed.
 */
export function figuresOf(
  { rows }: PageTable,
  { ways, lines }: Comparison,
): { says: string; figures: (readonly [who: string, text: string])[] }[] {
  return lines.map(([says, column, pick]) => {
    const figures = Object.entries(ways).map(([who, way]) => {
      const cell = rows.find((row) => Object.values(row)[0] === way)?.[column]
      if (cell === undefined) throw new Error(`docs/measurements.md has no "${column}" of "${way}"`)
      return [who, pick(cell)] as const
    })
    return { says, figures }
  })
}
