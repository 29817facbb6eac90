/** Returns a share as a percentage with two digits: `9.8`, `59`; or of another whole. */
export function share(part: number, of = 100, digits = 2): string {
  const figure = of * part
  return figure >= 10 || figure === 0 ? figure.toFixed(0) : figure.toPrecision(digits)
}

/** Prints a table with a heading, its columns as wide as what is in them. */
export function printTable(heading: string, rows: readonly Readonly<Record<string, string>>[]): void {
  const columns = Object.keys(rows[0] ?? {})
  const widths = columns.map((column) =>
    Math.max(column.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(' | ')} |`
  console.log(`\n${heading}\n`)
  console.log(line(columns))
  console.log(line(widths.map((width) => '-'.repeat(width))))
  for (const row of rows) console.log(line(columns.map((column) => row[column] ?? '')))
}

/** CPU time that this process has taken, in microseconds. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** The middle of some figures, so that one disturbed round does not count. */
export function median(figures: readonly number[]): number {
  const sorted = figures.toSorted((a, b) => a - b)
  const middle = sorted.length >>> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
}

/** How long an API takes for a response, in milliseconds: the five kinds of the guide's table. */
export const answerTimes: Readonly<Record<string, () => number>> = {
  '1 ms': () => 1,
  '300 ms': () => 300,
  '2 s': () => 2_000,
  'lognormal, 300 ms': () => 300 * Math.exp(0.5 * gauss()),
  '100 to 3,000 ms': () => 100 + 2_900 * Math.random(),
}

function gauss(): number {
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random())
}
