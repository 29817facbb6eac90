// Writes packages/conformance/results.md: what every client's adapter does in the scenarios.
import { startVitest } from 'vitest/node'

import { checkConformance } from './conformance-check.ts'

process.env['TESTS'] = 'all'
const { state } = await startVitest(['test/conformance'], { run: true, project: ['together', 'alone'] })
if (checkConformance(state.getTestModules(), { update: true }) === undefined) process.exitCode = 1
