// Makes sure that there is a Redis server for the tests, which start it themselves. Where there is none: Debian's
// package, for the machine if this is root, else unpacked into node_modules. No service is started.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { findRedisServer, ownRedis } from '../tools/testing/src/redis-server.ts'

const run = (command: string, args: readonly string[], cwd?: string): boolean =>
  spawnSync(command, args, {
    cwd,
    stdio: 'ignore',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  }).status === 0

/** Debian starts the service of a package after its installation, unless this says no. */
function installForMachine(): boolean {
  const root = process.getuid?.() === 0 ? [] : ['sudo', '-n']
  const sh = [...root, 'sh', '-c', installation]
  return run(sh[0] as string, sh.slice(1))
}
const installation = `
set -e
apt-get update
if [ ! -e /usr/sbin/policy-rc.d ]; then
  printf '#!/bin/sh\\nexit 101\\n' > /usr/sbin/policy-rc.d
  chmod 755 /usr/sbin/policy-rc.d
  trap 'rm -f /usr/sbin/policy-rc.d' EXIT
fi
apt-get install -y --no-install-recommends redis-server
`

/** Without root: the package and what it needs, from the machine's present package lists. */
function unpack(): boolean {
  rmSync(ownRedis, { recursive: true, force: true })
  mkdirSync(ownRedis, { recursive: true })
  const packages = mkdtempSync(join(ownRedis, 'packages-'))
  if (!run('apt-get', ['download', 'redis-tools', 'libjemalloc2', 'liblzf1', 'libatomic1'], packages))
    return false
  for (const file of readdirSync(packages))
    if (!run('dpkg-deb', ['-x', join(packages, file), ownRedis])) return false
  // Debian ships one binary under several names
  symlinkSync('redis-check-rdb', join(ownRedis, 'usr/bin/redis-server'))
  return true
}

if (findRedisServer() === undefined) void (installForMachine() || unpack())
const server = findRedisServer()
if (server === undefined) {
  console.error(
    'The tests of @tokenlane/redis need a Redis server, and it could not be installed: put `redis-server` or ' +
      '`valkey-server` on the PATH (Debian: apt-get install redis-server; macOS: brew install redis).',
  )
  process.exitCode = 1
} else console.log(server.command)
