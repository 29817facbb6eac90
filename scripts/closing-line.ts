import type { SerializedError } from 'vitest'
import type { Reporter, TestModule, Vitest } from 'vitest/node'

import { checkConformance } from './conformance-check.ts'

/**
 * Prints one plain closing line, such as "12 passed, 0 failed", for machines that read the output.
 * The checks that `scripts/check.mjs` ran before the tests count as tests, and so does the conformance table.
 */
export default class ClosingLine implements Reporter {
  #update = false

  onInit({ config }: Vitest): void {
    this.#update = config.snapshotOptions.updateSnapshot === 'all'
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const [checksPassed = 0, checksFailed = 0] = (process.env['CHECKS'] ?? '').split(' ').map(Number)
    const count = {
      passed: checksPassed,
      failed: checksFailed + unhandled.length,
      skipped: 0,
      pending: 0,
    }
    for (const module of modules) {
      for (const test of module.children.allTests()) count[test.result().state] += 1
      // a file or a hook that fails outside of any test
      count.failed += module.errors().length
      for (const suite of module.children.allSuites()) count.failed += suite.errors().length
    }
    const table = checkConformance(modules, { update: this.#update })
    if (table === 'current') count.passed += 1
    if (table === 'outdated') {
      count.failed += 1
      process.exitCode = 1
      console.error('docs/conformance.md is not what this run found; `pnpm conformance` writes it')
    }
    const skipped = count.skipped + count.pending
    const line = `${count.passed} passed, ${count.failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`
    // at exit, so that nothing comes after it
    process.once('exit', () => process.stdout.write(line))
  }
}
