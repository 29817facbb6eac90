import type { ConformanceCell } from '@tokenlane/conformance'

const introduction = (clients: readonly string[]): string => `# Conformance

Every adapter runs the same scenarios with the real client and core. They call the sandbox over TLS. \`pnpm --dir tools/docs write conformance\` runs the scenarios and writes this page. The clients are ${listed(clients)}. "fetch" is the function that \`createFetch\` returns, and "fetch in the whole process" is the global \`fetch\` after \`installTokens\`.

All clients pass every scenario. If a client cannot do something, the scenario lists it as an exception, and a footnote says why and what is tested instead. No scenario is skipped.

An API has as many slots as its \`concurrency\` says, and each call under way takes one. After each scenario, the suite also checks that no call holds or waits for a slot, that the manager closes, that no listener is left on a signal, and that no response or error reveals a token or a secret.
`

/** The page on conformance as Markdown, in the form that oxfmt gives it. */
export function conformancePage(cells: readonly ConformanceCell[]): string {
  const clients = namesOf(cells, 'client').toSorted()
  const notes: string[] = []

  const footnoteOf = (limit: string): string => {
    if (!notes.includes(limit)) notes.push(limit)
    return `[^${notes.indexOf(limit) + 1}]`
  }

  const sections = namesOf(cells, 'subject').map((subject) => {
    const inSection = cells.filter((cell) => cell.subject === subject)
    const items = namesOf(inSection, 'scenario').map((scenario) => {
      const ran = inSection.filter((cell) => cell.scenario === scenario)
      if (ran.length < clients.length) throw new Error(`not every client ran: ${subject} ${scenario}`)
      const except = ran
        .toSorted((a, b) => clients.indexOf(a.client) - clients.indexOf(b.client))
        .flatMap(({ client, limit }) => (limit === undefined ? [] : [`${client}${footnoteOf(limit)}`]))
      return `- … ${scenario}\n${except.length === 0 ? '' : `  - ${except.length === 1 ? 'exception' : 'exceptions'}: ${listed(except)}\n`}`
    })
    return `## ${subject} …\n\n${items.join('')}`
  })
  const footnotes = notes.map((note, index) => `[^${index + 1}]: ${note}\n`)
  return [introduction(clients), ...sections, ...footnotes].join('\n')
}

/** Each name once, in the order of the cells. */
function namesOf(cells: readonly ConformanceCell[], kind: 'client' | 'subject' | 'scenario'): string[] {
  return [...new Set(cells.map((cell) => cell[kind]))]
}

function listed(names: readonly string[]): string {
  return new Intl.ListFormat('en').format(names)
}
