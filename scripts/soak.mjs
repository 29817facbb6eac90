// Runs the model of the token's life for as many random sequences as asked for: `pnpm soak 100000`. Prints the
// seed of every round and the figures so far; a failure prints the sequence, shrunk, and how to run it again.
import { spawnSync } from 'node:child_process'

const [runs = '50000'] = process.argv.slice(2)
const command = 'vitest run --config vitest.workspace.ts --project @tokenlane/core packages/core/test/model'
const { status } = spawnSync(command, {
  shell: true,
  stdio: 'inherit',
  env: { ...process.env, SOAK_RUNS: runs },
})
process.exitCode = status ?? 1
