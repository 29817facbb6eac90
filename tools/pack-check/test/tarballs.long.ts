// Long: builds and packs the whole workspace, on three versions of Node, and takes an older one from npm.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { digestOf, packed } from '../src/pack.ts'
import { root } from '../src/packages.ts'
import { makeProject } from '../src/project.ts'
import { must, run } from '../src/run.ts'
import { binaryOf, oldNode, runtimes, type Runtime } from '../src/runtime.ts'

const temp = mkdtempSync(join(tmpdir(), 'reproducible-'))
afterAll(() => rmSync(temp, { recursive: true }))

/** Years from now, and in another time zone. */
const laterClock = `const later = 5e11
const { now } = Date
globalThis.Date = class extends Date {
  constructor(...given) {
    if (given.length === 0) super(now() + later)
    else super(...given)
  }
  static now() { return now() + later }
}
`

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .trim()
  .split('\n')

/** Copies a workspace, all files with another date, and installs what it needs from this machine's store. */
async function copyOf(from: string, name: string): Promise<string> {
  const folder = join(temp, name)
  for (const file of files) {
    cpSync(join(from, file), join(folder, file))
    utimesSync(join(folder, file), 1, 1)
  }
  const options = ['--frozen-lockfile', '--prefer-offline', '--ignore-scripts']
  await must('installing', 'pnpm', ['install', ...options], { cwd: folder })
  return folder
}

/** Builds and packs a workspace, and returns the digest of each tarball. */
async function digestsFrom(folder: string, env: NodeJS.ProcessEnv, node = process.execPath): Promise<object> {
  const path = [dirname(node), process.env['PATH']].join(delimiter)
  await must('building', node, ['scripts/build.ts', '--tarballs'], {
    cwd: folder,
    env: { ...process.env, ...env, PATH: path },
  })
  const tarballs = join(folder, 'tarballs')
  return Object.fromEntries(
    readdirSync(tarballs).map((file) => [file, digestOf(join(tarballs, file), 'hex')]),
  )
}

const [firstNode, ...others] = runtimes.filter(({ name }) => name.startsWith('Node')) as [
  Runtime,
  ...Runtime[],
]
let first: object
beforeAll(async () => {
  first = await digestsFrom(await copyOf(root, 'first'), { TZ: 'UTC' }, await binaryOf(firstNode))
})

test('every package is packed', () => {
  expect(Object.keys(first).toSorted()).toEqual(
    packed()
      .map(({ file }) => file)
      .toSorted(),
  )
})

test.each(others)(
  `$name packs the same bytes as ${firstNode.name}, in another folder, at another time and in another time zone`,
  async (runtime) => {
    const clock = join(temp, 'clock.mjs')
    writeFileSync(clock, laterClock)
    const env = { TZ: 'Pacific/Kiritimati', LC_ALL: 'C', NODE_OPTIONS: `--import=${clock}` }
    const folder = await copyOf(join(temp, 'first'), join('elsewhere', runtime.name.replace(' ', '-')))
    expect(await digestsFrom(folder, env, await binaryOf(runtime))).toEqual(first)
  },
)

test(`${oldNode.name} is named as too old, together with what is needed`, async () => {
  using project = await makeProject(join(temp, 'first', 'tarballs'))
  const code = `import { tokensFor } from '@tokenlane/core'
    try { tokensFor({}) } catch ({ code, message }) { console.log(code, message) }`
  const node = await binaryOf(oldNode)
  const options = { cwd: project.folder }
  const { output } = await run(node, ['--input-type=module', '--eval', code], options)
  expect(output).toMatch(
    /^RUNTIME_UNSUPPORTED Cannot create token manager: Node v20\.20\.2 is too old; use Node 22\.19, 24, 26 or later/,
  )
  const doctor = await run(node, ['node_modules/tokenlane/dist/main.js', 'doctor'], options)
  expect(doctor.output).toBe('tokenlane: Node v20.20.2 is too old; use Node 22.19, 24, 26 or later')
  const sandbox = await run(node, ['node_modules/@tokenlane/sandbox/dist/command/main.js'], options)
  expect(sandbox.output).toBe('tokenlane-sandbox: Node v20.20.2 is too old; use Node 22.19, 24, 26 or later')
})
