import type { ConformanceCell } from '@tokenlane/conformance'

const introduction = `# Conformance

Every adapter runs the same scenarios, with the real client and core, and the sandbox over TLS. \`pnpm --dir tools/docs write conformance\` runs them and writes these tables. In them, "fetch" is the function that \`createFetch\` returns, and "global fetch" is Node's own \`fetch\` after \`installTokens\` from \`@tokenlane/undici\`. ✓ means that the scenario passes. A footnote says what the client cannot do and what is tested instead: nothing is skipped.

After each scenario, no call holds or waits for a slot, the manager closes, no listener is left on a signal, and no response or error reveals a token or a secret.
`

/** The conformance table as Markdown, in the form that oxfmt gives it. */
export function conformanceTable(cells: readonly ConformanceCell[]): string {
  const clients = namesOf(cells, 'client').toSorted()
  const notes: string[] = []

  const mark = (cell: ConformanceCell | undefined): string => {
    if (cell === undefined) return ''
    if (cell.limit === undefined) return '✓'
    if (!notes.includes(cell.limit)) notes.push(cell.limit)
    return `[^${notes.indexOf(cell.limit) + 1}]`
  }

  const sections = namesOf(cells, 'subject').map((subject) => {
    const inSection = cells.filter((cell) => cell.subject === subject)
    const rows = namesOf(inSection, 'scenario').map((scenario) => {
      const inRow = inSection.filter((cell) => cell.scenario === scenario)
      return [`… ${scenario}`].concat(
        clients.map((name) => mark(inRow.find(({ client }) => client === name))),
      )
    })
    return `## ${subject} …\n\n${table([['', ...clients], ...rows])}`
  })
  const footnotes = notes.map((note, index) => `[^${index + 1}]: ${note}\n`)
  return [introduction, ...sections, ...footnotes].join('\n')
}

/** Each name once, in the order of the cells. */
function namesOf(cells: readonly ConformanceCell[], kind: 'client' | 'subject' | 'scenario'): string[] {
  return [...new Set(cells.map((cell) => cell[kind]))]
}

function table(rows: readonly string[][]): string {
  const widths = rows[0]!.map((_, column) => Math.max(3, ...rows.map((row) => row[column]!.length)))
  const rule = widths.map((width) => '-'.repeat(width))
  const lines = [rows[0]!, rule, ...rows.slice(1)].map((row) =>
    row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | '),
  )
  return lines.map((line) => `| ${line} |\n`).join('')
}
