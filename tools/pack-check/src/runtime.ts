import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { root } from './packages.ts'
import { must } from './run.ts'

/** A JavaScript runtime, as npm has it. */
export interface Runtime {
  /** With its version. */
  readonly name: string
  /** The package that holds the binary itself: no install script has to run. */
  readonly package: string
  /** The binary in that package. */
  readonly binary: string
  /** What stands before the file to run. */
  readonly args: readonly string[]
  /** The clients that it has. */
  readonly clients: readonly string[]
  readonly suite: Suite
}

/** How the conformance suite runs on a runtime. */
interface Suite {
  /** What stands before vitest, and what vitest gets. */
  readonly before: readonly string[]
  readonly after: readonly string[]
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>
  /** Scenarios that do not hold there. docs/support.md says why. */
  readonly differs?: RegExp
}

const everyClient = ['fetch', 'axios', 'got', 'ky', 'undici']
// elsewhere undici is another one, or one that is never used
const withoutUndici = everyClient.filter((name) => name !== 'undici')

const { platform, arch } = process
const isArm = arch === 'arm64'

const node = (version: string): Runtime => ({
  name: `Node ${version}`,
  package: `node-${platform === 'win32' ? 'win' : platform}-${arch}@${version}`,
  binary: platform === 'win32' ? 'bin/node.exe' : 'bin/node',
  args: [],
  clients: everyClient,
  suite: { before: [], after: [] },
})

/** One that is too old. */
export const oldNode: Runtime = node('20.20.2')

const deno = ['--allow-all', '--node-modules-dir=manual']

/** Bun has another module of that name, and Deno another `fetch`: neither asks undici's global dispatcher. */
const notUndici = '--exclude=packages/undici/**'

/** Every runtime that is supported. */
export const runtimes: readonly Runtime[] = [
  node('22.23.3'),
  node('24.21.0'),
  node('26.10.0'),
  {
    name: 'Bun 1.4.5',
    package: `@oven/bun-${platform === 'win32' ? 'windows' : platform}-${isArm ? 'aarch64' : 'x64'}@1.4.5`,
    binary: platform === 'win32' ? 'bin/bun.exe' : 'bin/bun',
    args: [],
    clients: withoutUndici,
    suite: {
      before: ['--bun'],
      after: ['--pool=threads', notUndici],
      // Bun takes no further authority at run time
      env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
      differs: /in the async context/,
    },
  },
  {
    name: 'Deno 2.9.6',
    package: `@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}@2.9.6`,
    binary: platform === 'win32' ? 'deno.exe' : 'deno',
    args: ['run', ...deno],
    clients: withoutUndici,
    suite: {
      before: ['run', ...deno, '--unsafely-ignore-certificate-errors'],
      after: ['--pool=threads', notUndici],
      differs:
        /in the async context|in the queue ends the wait|QUEUE_TIMEOUT|ends a slow attempt|undone by detaching/,
    },
  },
]

/** The path of the binary, which npm fetches once. */
export async function binaryOf(runtime: Runtime): Promise<string> {
  const place = join(root, 'node_modules', '.cache', 'tokenlane-runtimes', runtime.name.replace(' ', '-'))
  mkdirSync(place, { recursive: true })
  const args = [
    'install',
    '--prefix',
    place,
    '--no-save',
    '--prefer-offline',
    '--ignore-scripts',
    '--no-audit',
  ]
  await must(`npm install ${runtime.package}`, 'npm', [...args, runtime.package], { cwd: place })
  return join(place, 'node_modules', runtime.package.replace(/@[^@]+$/, ''), runtime.binary)
}
