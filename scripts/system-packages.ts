// The programs that the tests start and that npm does not have, from Debian's packages, where this machine has none
// and allows it. Says first what is installed and why; TOKENLANE_NO_SYSTEM_PACKAGES=1 installs nothing on the machine.
import { spawn, spawnSync } from 'node:child_process'
import { findRedisServer, ownRedis } from '../tools/testing/src/redis-server.ts'
import { unpackServer } from './unpack-server.ts'

interface Program {
  readonly debianPackage: string
  readonly why: string
  readonly isHere: () => boolean
}

const runs = (command: string, ...args: string[]): boolean =>
  spawnSync(command, args, { stdio: 'ignore' }).status === 0

const programs: readonly Program[] = [
  {
    debianPackage: 'redis-server',
    why: 'the tests of @tokenlane/redis start it',
    isHere: () => findRedisServer() !== undefined,
  },
  {
    debianPackage: 'prometheus',
    why: 'the tests of @tokenlane/otel ask it for metrics and test alerts with it',
    isHere: () => runs('prometheus', '--version') && runs('promtool', '--version'),
  },
  {
    debianPackage: 'chromium',
    why: 'a test opens a page in it',
    isHere: () => runs(process.env['CHROMIUM_PATH'] ?? 'chromium', '--version'),
  },
  {
    debianPackage: 'python3',
    why: 'a test drives the sandbox from it',
    isHere: () => runs('python3', '--version'),
  },
]

/** Installs what is missing; ends in any case, since a test that needs a program says which one is missing. */
export async function installSystemPackages(): Promise<void> {
  const missing = programs.filter(({ isHere }) => !isHere())
  if (missing.length === 0) return
  const names = missing.map(({ debianPackage }) => debianPackage)
  const list = missing.map(({ debianPackage, why }) => `${debianPackage} (${why})`).join(', ')
  if (process.env['TOKENLANE_NO_SYSTEM_PACKAGES'] === '1') console.log(`Missing on this machine: ${list}`)
  else if (!runs('apt-get', '--version') || !mayInstall())
    console.log(
      `Missing on this machine, and not installed for want of apt-get or of the right to use it: ${list}`,
    )
  else {
    console.log(`Installing on this machine with apt-get: ${list}`)
    console.log('TOKENLANE_NO_SYSTEM_PACKAGES=1 prevents that.')
    await install(names)
  }
  // without root: from the machine's present package lists
  if (findRedisServer() === undefined) unpackServer('redis', ownRedis)
}

const isRoot = process.getuid?.() === 0
const mayInstall = (): boolean => isRoot || runs('sudo', '-n', 'true')

/** Debian starts the service of a package after its installation, unless policy-rc.d says no. */
async function install(names: readonly string[]): Promise<void> {
  // without a network this is to end in seconds
  const apt = 'apt-get -qq -o Acquire::Retries=0 -o Acquire::http::Timeout=10 -o DPkg::Lock::Timeout=60'
  const script = `
    if [ ! -e /usr/sbin/policy-rc.d ]; then
      printf '#!/bin/sh\\nexit 101\\n' > /usr/sbin/policy-rc.d
      chmod 755 /usr/sbin/policy-rc.d
      trap 'rm -f /usr/sbin/policy-rc.d' EXIT
    fi
    ${apt} update
    DEBIAN_FRONTEND=noninteractive ${apt} install -y --no-install-recommends ${names.join(' ')}`
  const shell = ['sh', '-c', script]
  const installation = isRoot
    ? spawn('sh', shell.slice(1), { stdio: 'ignore' })
    : spawn('sudo', ['-n', ...shell], { stdio: 'ignore' })
  await new Promise((resolve) => installation.once('exit', resolve))
}
