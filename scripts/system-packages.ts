// The programs that the tests start and that npm does not have, from Debian's packages, where this machine has none
// and allows it. Says first what is installed and why; TOKENLANE_NO_SYSTEM_PACKAGES=1 installs nothing on the machine, and
// leaves out the tests of what is missing.
import { spawn, spawnSync } from 'node:child_process'
import { findRedisServer, findValkeyServer } from '../tools/testing/src/redis-server.ts'
import { unpackRedis, unpackValkey } from './unpack-server.ts'

interface Program {
  /** As `apt-get` is given it; more than one with spaces between. */
  readonly debianPackage: string
  readonly why: string
  /** The tests that start it, as globs. */
  readonly tests: readonly string[]
  readonly isHere: () => boolean
}

const runs = (command: string, ...args: string[]): boolean =>
  spawnSync(command, args, { stdio: 'ignore' }).status === 0

/** Whether a module is there for the Python of the machine, which may not be the first on the `PATH`. */
const debianPythonHas = (module: string): boolean => runs('/usr/bin/python3', '-c', `import ${module}`)

/** What `npm test` needs. */
const redisServer: Program = {
  debianPackage: 'redis-server',
  why: 'the tests of @tokenlane/redis start it',
  tests: [
    'packages/cli/test/{command,doctor}.long.ts',
    'packages/redis/src/store/redis-token-store.test.ts',
    'packages/redis/test/*.{test,long}.ts',
    'packages/redis/test/simulation/*.{test,long}.ts',
    'tools/end-to-end/test/from-secret-to-none.long.ts',
    'tools/docs/test/run.long.ts',
  ],
  isHere: () => findRedisServer() !== undefined,
}

/** What `npm run test:all` needs besides: `.long.ts` alone start these. */
const others: readonly Program[] = [
  {
    debianPackage: 'prometheus',
    why: 'the tests of @tokenlane/otel ask it for metrics and test alerts with it',
    tests: ['packages/otel/test/{prometheus,rules}.long.ts'],
    isHere: () => runs('prometheus', '--version') && runs('promtool', '--version'),
  },
  {
    debianPackage: 'chromium',
    why: 'tests open pages in it',
    tests: [
      'packages/core/test/browser/browser.long.ts',
      'packages/sandbox/test/console.long.ts',
      'site/look.long.ts',
    ],
    isHere: () => runs(process.env['CHROMIUM_PATH'] ?? 'chromium', '--version'),
  },
  {
    debianPackage: 'curl',
    why: 'a test judges a shell script with it',
    tests: ['packages/cli/test/judge.long.ts'],
    isHere: () => runs('curl', '--version'),
  },
  {
    debianPackage: 'python3',
    why: 'tests drive the sandbox and are judged in it, and another one needs a terminal',
    tests: [
      'packages/cli/test/judge.long.ts',
      'packages/sandbox/test/python.long.ts',
      'examples/quickstart/terminal.long.ts',
    ],
    isHere: () => runs('python3', '--version'),
  },
  {
    debianPackage: 'python3-authlib python3-flask',
    why: 'a test gets tokens from Authlib',
    tests: ['packages/core/test/authorization-servers/authlib.long.ts'],
    isHere: () => debianPythonHas('authlib, flask'),
  },
  {
    debianPackage: 'python3-django-oauth-toolkit',
    why: 'a test gets tokens from it',
    tests: ['packages/core/test/authorization-servers/django-oauth-toolkit.long.ts'],
    isHere: () => debianPythonHas('oauth2_provider'),
  },
  {
    debianPackage: 'glewlwyd dbconfig-sqlite3',
    why: 'a test gets tokens from it',
    tests: ['packages/core/test/authorization-servers/glewlwyd.long.ts'],
    isHere: () => runs('glewlwyd', '--version'),
  },
]

/** Not every release of Debian has it, so it is unpacked into a folder of the project. */
const valkey: Program = {
  debianPackage: 'valkey-server',
  why: 'the tests of @tokenlane/redis run with it too',
  // the configuration of the tests adds them where it is there
  tests: [],
  isHere: () => findValkeyServer() !== undefined,
}

/** All that some test starts. */
export const programs: readonly Program[] = [redisServer, ...others, valkey]

const isAll = (): boolean => process.env['TESTS'] === 'all'
const missing = (): readonly Program[] =>
  (isAll() ? programs : [redisServer]).filter(({ isHere }) => !isHere())
const mustNotInstall = (): boolean => process.env['TOKENLANE_NO_SYSTEM_PACKAGES'] === '1'

/** Returns the programs whose tests are left out: what is missing, where nothing may be installed. */
export function leftOut(): readonly Program[] {
  return mustNotInstall() ? missing() : []
}

/** Installs what is missing; ends in any case, since a test that needs a program says which one is missing. */
export async function installSystemPackages(): Promise<void> {
  if (mustNotInstall()) return
  const wanted = missing().filter((program) => program !== valkey)
  const list = wanted.map(({ debianPackage, why }) => `${debianPackage} (${why})`).join(', ')
  if (wanted.length > 0 && (!runs('apt-get', '--version') || !mayInstall()))
    console.log(
      `Missing on this machine, and not installed for want of apt-get or of the right to use it: ${list}`,
    )
  else if (wanted.length > 0) {
    console.log(`Installing on this machine with apt-get: ${list}`)
    console.log('TOKENLANE_NO_SYSTEM_PACKAGES=1 prevents that.')
    await install(wanted.map(({ debianPackage }) => debianPackage))
  }
  if (!redisServer.isHere()) unpackRedis()
  if (isAll() && !valkey.isHere() && !unpackValkey())
    console.log(
      'Valkey is not on this machine, and apt-get has no package of it: the tests with it are left out.',
    )
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
    # one by one, since a release of Debian may lack one of them
    for names in ${names.map((each) => `'${each}'`).join(' ')}; do
      DEBIAN_FRONTEND=noninteractive ${apt} install -y --no-install-recommends $names
    done`
  const shell = ['sh', '-c', script]
  const installation = isRoot
    ? spawn('sh', shell.slice(1), { stdio: 'ignore' })
    : spawn('sudo', ['-n', ...shell], { stdio: 'ignore' })
  await new Promise((resolve) => installation.once('exit', resolve))
}
