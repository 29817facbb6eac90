/** Lays out rows of cells in columns: text to the left, numbers to the right. The first row is the heading. */
export function table(rows: (string | number)[][]): string {
  const shown = rows.map((row) => row.map((cell) => cell.toLocaleString('en-US')))
  const widths = shown[0]!.map((_, column) => Math.max(...shown.map((row) => row[column]!.length)))
  const isNumeric = (column: number): boolean => typeof rows[1]?.[column] === 'number'
  const line = (row: string[]): string =>
    row
      .map((cell, column) =>
        isNumeric(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
      )
      .join('  ')
      .trimEnd()
  return shown.map(line).join('\n')
}
