/** A table of the page: what stands before it, and its rows as cells by the names of their columns. */
export interface PageTable {
  /** The first word of the line before the table, such as the client whose calls it has. */
  readonly title: string
  readonly rows: readonly Readonly<Record<string, string>>[]
}

/** Returns the tables below a heading of `docs/measurements.md`, in their order. */
export function tablesOf(page: string, heading: string): PageTable[] {
  const start = page.indexOf(`\n## ${heading}\n`)
  if (start < 0) return []
  const section = page.slice(start + 1).split('\n## ')[0] ?? ''
  return Array.from(section.matchAll(/^(.*)\n\n((?:\|.+\|\n)+)/gm), ([, before = '', table = '']) => {
    const [names = [], , ...rows] = table.trim().split('\n').map(cellsOf)
    return {
      title: /^[\w@/-]+/.exec(before)?.[0] ?? '',
      rows: rows.map((cells) => Object.fromEntries(names.map((name, index) => [name, cells[index] ?? '']))),
    }
  })
}

/** Returns the first number of a cell; `NaN` where there is none. */
export function numberIn(cell: string | undefined): number {
  return Number(/\d[\d,]*(?:\.\d+)?/.exec(cell ?? '')?.[0].replaceAll(',', '') ?? Number.NaN)
}

const cellsOf = (row: string): string[] =>
  row
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim())
