import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { root } from './packages.ts'
import { must } from './run.ts'

/** A JavaScript runtime, as npm has it. */
export interface Runtime {
  /** Its row of the table, whatever its version. */
  readonly id: string
  /** With its version, for the table. */
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
  readonly differs?: readonly Difference[]
}

/** Scenarios that do not hold on a runtime, and why that is not our fault. */
interface Difference {
  readonly clients: readonly string[]
  readonly scenarios: RegExp
  /** A sentence. */
  readonly because: string
}

const everyClient = ['fetch', 'axios', 'got', 'ky', 'undici']
// elsewhere undici is another one, or one that is never used
const withoutUndici = everyClient.filter((name) => name !== 'undici')

const { platform, arch } = process
const isArm = arch === 'arm64'

const node = (version: string): Runtime => ({
  id: `Node ${version.split('.')[0]}`,
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
    id: 'Bun',
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
    },
  },
  {
    id: 'Deno',
    name: 'Deno 2.9.6',
    package: `@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}@2.9.6`,
    binary: platform === 'win32' ? 'deno.exe' : 'deno',
    args: ['run', ...deno],
    clients: withoutUndici,
    suite: {
      before: ['run', ...deno, '--unsafely-ignore-certificate-errors'],
      after: ['--pool=threads', notUndici],
      differs: [
        {
          clients: ['axios', 'got'],
          scenarios: /in the queue ends the wait|QUEUE_TIMEOUT|ends a slow attempt|undone by detaching/,
          because:
            'The `node:http` of Deno sends a request once more that was aborted on a connection in use before, and its error does not come ([denoland/deno#36786](https://github.com/denoland/deno/issues/36786)); an agent with `keepAlive: false` avoids that.',
        },
      ],
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
