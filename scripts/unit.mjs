// Runs the tests, or those whose path has one of the arguments in it. One worker more than cores: many tests wait, for
// processes, servers and rate policies, and leave their core to others. As a flag, since a setting of the workspace does
// not reach projects with a configuration of their own.
import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

const vitest = `vitest run --config vitest.workspace.ts --maxWorkers=${availableParallelism() + 1}`
const { status } = spawnSync([vitest, ...process.argv.slice(2)].join(' '), { shell: true, stdio: 'inherit' })
process.exitCode = status ?? 1
