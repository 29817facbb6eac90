// Unpacks a server from Debian's packages into a folder of the project, without root: nothing changes on the machine.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Unpacks Redis or Valkey, and what it needs, into `folder`; returns whether it could.
 *
 * @param aptOptions where `apt-get` finds the packages; by default in the machine's present lists.
 */
export function unpackServer(
  name: 'redis' | 'valkey',
  folder: string,
  aptOptions: readonly string[] = [],
): boolean {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const packages = mkdtempSync(join(folder, 'packages-'))
  const names = [`${name}-tools`, 'libjemalloc2', 'liblzf1', 'libatomic1']
  const apt = [...aptOptions, 'download', ...names]
  if (!runs(packages, 'apt-get', ...apt)) return false
  for (const file of readdirSync(packages))
    if (!runs(packages, 'dpkg-deb', '-x', join(packages, file), folder)) return false
  // Debian ships one binary under several names
  symlinkSync(`${name}-check-rdb`, join(folder, `usr/bin/${name}-server`))
  return true
}

function runs(cwd: string, command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { cwd, stdio: 'ignore' }).status === 0
}
