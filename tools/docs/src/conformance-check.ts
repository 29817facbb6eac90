import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import type { TestModule } from 'vitest/node'

import { conformancePage } from './conformance-page.ts'

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
