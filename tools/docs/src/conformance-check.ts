import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import type { ConformanceCell } from '@tokenlane/conformance'
import type { TestModule } from 'vitest/node'

const packages = new URL('../../../packages/', import.meta.url)
const file = new URL('../../../packages/conformance/results.md', import.meta.url)

/**
 * Compares `packages/conformance/results.md` with what a run of every client's conformance suite found, or writes it.
 *
 * @returns `undefined` if the run left something out, or something failed: then there is nothing to compare.
 */
export function checkConformance(
  modules: readonly TestModule[],
  { update }: { update: boolean },
): 'current' | 'outdated' | undefined {
  const suites = new Set(suitePaths())
  // other projects have older versions of the clients
  const ran = modules.filter(
    ({ moduleId, project }) => suites.has(moduleId) && ['together', 'alone'].includes(project.name),
  )
  const tests = ran.flatMap(({ children }) => [...children.allTests()])
  if (suites.size === 0 || ran.length < suites.size) return undefined
  // one that did not load has no tests
  if (ran.some((module) => module.state() !== 'passed')) return undefined
  if (tests.some((test) => test.result().state !== 'passed')) return undefined

  const cells = tests.flatMap((test) => test.meta().conformance ?? [])
  const page = conformancePage(cells)
  if (existsSync(file) && readFileSync(file, 'utf8') === page) return 'current'
  if (!update) return 'outdated'
  writeFileSync(file, page)
  return 'current'
}

function suitePaths(): string[] {
  // those with a number are of older versions of a client
  return globSync('*/test/conformance{,-[a-z]*}.{test,long}.ts', { cwd: packages }).map((path) =>
    fileURLToPath(new URL(path, packages)),
  )
}

const introduction = (clients: readonly string[]): string => `# Conformance

Every adapter runs the same scenarios with the real client and core. They call the sandbox over TLS. \`pnpm --dir tools/docs write conformance\` runs the scenarios and writes this page. The clients are ${listed(clients)}. "fetch" is the function that \`createFetch\` returns, and "fetch in the whole process" is the global \`fetch\` after \`installTokens\`.

All clients pass every scenario. If a client cannot do something, the scenario lists it as an exception, and a footnote says why and what is tested instead. No scenario is skipped.

An API has as many slots as its \`concurrency\` says, and each call under way takes one. After each scenario, the suite also checks that no call holds or waits for a slot, that the manager closes, that no listener is left on a signal, and that no response or error reveals a token or a secret.
`

/** The page on conformance as Markdown, in the form that oxfmt gives it. */
function conformancePage(cells: readonly ConformanceCell[]): string {
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
