// Runs the model of the token's life for as many random sequences as asked for. Prints the seed of every round and the
// figures so far; a failure prints the sequence, shrunk, and how to run it again.
import { spawnSync } from 'node:child_process'

const [runs = '50000'] = process.argv.slice(2)
const { status } = spawnSync('pnpm vitest run packages/core/test/model', {
  cwd: new URL('../../../', import.meta.url),
  shell: true,
  stdio: 'inherit',
  env: { ...process.env, SOAK_RUNS: runs },
})
process.exitCode = status ?? 1
