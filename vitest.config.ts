import { readFileSync } from 'node:fs'
import { defineConfig, type TestProjectConfiguration } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

import { leftOut } from './scripts/system-packages.ts'
import { findValkeyServer } from './tools/testing/src/redis-server.ts'

// `npm test` runs the files that end with `.test.ts`. `npm run test:all` sets TESTS=all: it runs those that end with
// `.long.ts` and the examples too, some files again with other servers and clients, and draws more random cases.
const all = process.env['TESTS'] === 'all'
const suffix = all ? '{test,long}' : 'test'

// what tests draw at random: the same seed draws the same again
process.env['SEED'] ??= String(Math.floor(Math.random() * 2 ** 31))

/**
 * Each of these files has a process of its own: an example is an application, and the others replace what their process
 * sends with, or which TLS it takes.
 */
const alone = ['packages/undici', 'tools/end-to-end']

/** Each test of these runs a process, which takes its time of a core. */
const ownProcesses = ['packages/cli/test/*.long.ts', 'tools/docs/test/run.long.ts']

const common = {
  setupFiles: ['./tools/testing/src/seed.ts', './tools/testing/src/patience.ts'],
  exclude: ['**/node_modules/**', '**/dist/**', ...leftOut().flatMap(({ tests }) => tests)],
  // for what hangs, and the only such limits: a busy machine may take its time
  testTimeout: 600_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 120_000 } },
  maxConcurrency: 16,
  // most tests provoke what these report
  // Deno takes no such flag
  execArgv: process.versions['deno'] === undefined ? ['--disable-warning=TokenlaneWarning'] : [],
}

const projects: TestProjectConfiguration[] = [
  {
    test: {
      ...common,
      name: 'together',
      // the files leave nothing behind that another would see, and loading a manager takes longer than most of them
      isolate: false,
      setupFiles: [...common.setupFiles, './tools/testing/src/left-behind.ts'],
      include: [`{packages,tools,site}/**/*.${suffix}.ts`],
      exclude: [...common.exclude, ...alone.map((folder) => `${folder}/**`), ...ownProcesses],
    },
  },
  {
    test: {
      ...common,
      name: 'alone',
      include: [
        ...alone.map((folder) => `${folder}/**/*.${suffix}.ts`),
        ...(all ? ['examples/**/*.{test,long}.ts'] : []),
      ],
    },
  },
]

if (all) projects.push({ test: { ...common, name: 'processes', include: ownProcesses, maxConcurrency: 4 } })

if (all && findValkeyServer() !== undefined)
  projects.push({
    test: {
      ...common,
      name: 'Valkey',
      include: [
        'packages/redis/src/store/redis-token-store.test.ts',
        'packages/redis/test/{contracts,limiter,server-facts,wake-up}.test.ts',
        'packages/redis/test/limiter-cluster.long.ts',
      ],
      env: { TOKENLANE_TEST_SERVER: 'valkey' },
    },
  })

/** Tests of undici's interceptor that concern what its versions do. */
const interceptor = '{interceptors,one-call,redirects,aborts}.test'

/** What a test imports, the name under which its adapter has the oldest version of it installed, and the tests. */
const oldest = [
  { client: 'axios', imported: 'axios', alias: 'axios-1.7', files: 'conformance{.test,-fetch.long}' },
  { client: 'got', imported: 'got', alias: 'got-15', files: 'conformance.test' },
  { client: 'ky', imported: 'ky', alias: 'ky-2', files: 'conformance.test' },
  {
    client: 'undici',
    imported: 'undici',
    alias: 'undici-7.16',
    files: `{conformance-7.long,${interceptor}}`,
  },
  {
    client: 'undici',
    imported: 'undici-8',
    alias: 'undici-8.0',
    files: `{conformance.test,conformance-ways.long,${interceptor}}`,
  },
] as const

interface Manifest {
  readonly version: string
  readonly peerDependencies?: Readonly<Record<string, string>>
}
const read = (path: string): Manifest => JSON.parse(readFileSync(path, 'utf8')) as Manifest

/** As above, for versions between the oldest and the newest. */
const between = [
  { client: 'axios', imported: 'axios', alias: 'axios-1.12', files: 'conformance{.test,-fetch.long}' },
  { client: 'axios', imported: 'axios', alias: 'axios-1.16', files: 'conformance{.test,-fetch.long}' },
  { client: 'got', imported: 'got', alias: 'got-15.0', files: 'conformance.test' },
  { client: 'got', imported: 'got', alias: 'got-15.1', files: 'conformance.test' },
  { client: 'ky', imported: 'ky', alias: 'ky-2.0', files: 'conformance.test' },
  { client: 'ky', imported: 'ky', alias: 'ky-2.1', files: 'conformance.test' },
  {
    client: 'undici',
    imported: 'undici',
    alias: 'undici-7.20',
    files: `{conformance-7.long,${interceptor}}`,
  },
  {
    client: 'undici',
    imported: 'undici-8',
    alias: 'undici-8.4',
    files: `{conformance.test,conformance-ways.long,${interceptor}}`,
  },
] as const

if (all)
  for (const { client, imported, alias, files } of [...oldest, ...between]) {
    const folder = `packages/${client}`
    const range = read(`${folder}/package.json`).peerDependencies?.[client] ?? ''
    const { version } = read(`${folder}/node_modules/${alias}/package.json`)
    const isOldest = oldest.some((entry) => entry.alias === alias)
    if (isOldest && !range.split(' || ').includes(`^${version}`))
      throw new Error(`${folder} allows ${client} ${range}, and ${alias} is ${version}: install the oldest`)
    projects.push({
      resolve: { alias: [{ find: new RegExp(`^${imported}(?=$|/)`), replacement: alias }] },
      test: { ...common, name: `${client} ${version}`, include: [`${folder}/test/${files}.ts`] },
    })
  }

const isLong = ({ moduleId }: TestSpecification): boolean => moduleId.endsWith('.long.ts')

/** Vitest begins with the largest files. Short files that take minutes would come last, while other workers have none left. */
class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- not an array's
    const sorted = await super.sort(files)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

export default defineConfig({ test: { projects, sequence: { sequencer: LongFilesFirst } } })
