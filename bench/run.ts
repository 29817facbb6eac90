// Runs every bench file of this folder in turn, each in a process of its own: `pnpm bench [--quick] [name …]`.
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'

const args = process.argv.slice(2)
const names = args.filter((arg) => !arg.startsWith('--'))
const options = args.filter((arg) => arg.startsWith('--'))
const benches = globSync('*.ts', { cwd: import.meta.dirname })
  .map((file) => basename(file, '.ts'))
  .filter((name) => name !== 'run' && (names.length === 0 || names.includes(name)))
  .toSorted()

for (const name of benches) {
  const { status } = spawnSync(
    process.execPath,
    ['--expose-gc', join(import.meta.dirname, `${name}.ts`), ...options],
    { stdio: 'inherit' },
  )
  if (status !== 0) process.exitCode = 1
}
