import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { root } from './packages.ts'
import { must } from './run.ts'

/** A JavaScript runtime, as npm has it. */
export interface Runtime {
  /** With its version, for the table. */
  readonly name: string
  /** The package that holds the binary itself: no install script has to run. */
  readonly package: string
  /** The binary in that package. */
  readonly binary: string
  /** What stands before the file to run. */
  readonly args: readonly string[]
  /** Whether vitest runs on it. */
  readonly vitest: boolean
}

const { platform, arch } = process
const isArm = arch === 'arm64'

const node = (version: string): Runtime => ({
  name: `Node ${version}`,
  package: `node-${platform === 'win32' ? 'win' : platform}-${arch}@${version}`,
  binary: platform === 'win32' ? 'bin/node.exe' : 'bin/node',
  args: [],
  vitest: true,
})

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
    vitest: false,
  },
  {
    name: 'Deno 2.9.6',
    package: `@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}@2.9.6`,
    binary: platform === 'win32' ? 'deno.exe' : 'deno',
    args: ['run', '--allow-all', '--node-modules-dir=manual'],
    vitest: false,
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
