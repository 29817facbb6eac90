import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Sandbox, startSandbox } from '@tokenlane/sandbox'
import { type RedisServer, startRedis } from '@tokenlane/testing/redis-server'
import { docstringExamples } from './docstrings.ts'

// Every `ts` block of every README and of the guide is compiled, and run against the sandbox; every `@example` of a
// docstring is compiled.

const root = new URL('../../', import.meta.url)
const folder = new URL('generated/', import.meta.url)
const secrets = new URL('secrets/', folder)

/** What a block begins with that is a file of examples/testing: its runner runs it there. */
const fileOfExample = /^\/\/ (?:[\w-]+: )?records\b[\w.-]*\.ts\n/

const pages = [
  'README.md',
  ...readdirSync(new URL('packages/', root)).map((name) => `packages/${name}/README.md`),
  ...readdirSync(new URL('docs/guide/', root)).map((name) => `docs/guide/${name}`),
]
  .map((page) => ({ page, file: page.replaceAll(/\W+/g, '-'), blocks: blocksOf(page) }))
  .filter(({ blocks }) => blocks.length > 0)
const examples = await docstringExamples()
const counts = {
  blocks: pages.flatMap(({ blocks }) => blocks).length,
  examples: examples.flatMap(({ modules }) => modules).length,
}

function blocksOf(page: string): string[] {
  const text = readFileSync(new URL(page, root), 'utf8')
  const blocks = Array.from(text.matchAll(/^```ts\n(.*?)^```$/gms), ([, code = '']) => code)
  return blocks.filter((code) => !fileOfExample.test(code))
}

let sandbox: Sandbox
let redis: RedisServer
beforeAll(async () => {
  ;[sandbox, redis] = await Promise.all([startSandbox(), startRedis()])
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(new URL('ca.pem', folder), sandbox.ca)
  mkdirSync(secrets)
  for (const [field, text] of Object.entries(sandbox.credentials.general))
    writeFileSync(new URL(field, secrets), `${text}\n`)
  for (const { file, blocks } of pages) {
    for (const [index, code] of blocks.entries())
      writeFileSync(new URL(`${file}-${index + 1}.ts`, folder), here(code))
    // one process runs all blocks of a page, one after the other
    const imports = blocks.map((_, index) => `await import('./${file}-${index + 1}.ts')\n`)
    writeFileSync(new URL(`${file}.ts`, folder), imports.join(''))
  }
  for (const { path, modules } of examples)
    for (const [index, code] of modules.entries())
      writeFileSync(new URL(`docstring-${path.replaceAll(/\W+/g, '-')}-${index + 1}.ts`, folder), code)
  // what the README calls the bootstrap
  const bootstrap = pages.flatMap(({ blocks }) => blocks).find((code) => code.includes('export const tokens'))
  writeFileSync(new URL('tokens.ts', folder), here(bootstrap ?? ''))
})
afterAll(async () => {
  await Promise.all([sandbox.close(), redis.close()])
  rmSync(folder, { recursive: true, force: true })
})

/** The sandbox and a Redis in the place of the hosts and secrets that the pages make up. */
function here(code: string): string {
  return code
    .replaceAll('https://weblink-auth.example.com', sandbox.weblinkAuthUrl)
    .replaceAll('https://weblink.example.com/api/', sandbox.weblinkUrl)
    .replaceAll('https://auth.example.com', sandbox.authUrl)
    .replaceAll('https://api.example.com/', sandbox.apiUrl)
    .replaceAll('redis://redis.example.com:6379', redis.url)
    .replaceAll('/run/secrets/general', secrets.pathname)
}

/** Runs Node without blocking this process, which serves the sandbox. */
const node = (
  args: string[],
  env: Record<string, string> = {},
): Promise<{ status: unknown; output: string }> => {
  const { promise, resolve } = Promise.withResolvers<{ status: unknown; output: string }>()
  execFile(process.execPath, args, { env: { ...process.env, ...env } }, (error, stdout, stderr) =>
    resolve({ status: error === null ? 0 : error.code, output: stdout + stderr }),
  )
  return promise
}

test(
  `the ${counts.blocks} blocks of pages and the ${counts.examples} examples of docstrings compile`,
  { timeout: 60_000 },
  async () => {
    const tsc = new URL('node_modules/typescript/bin/tsc', root).pathname
    writeFileSync(
      new URL('tsconfig.json', folder),
      JSON.stringify({
        extends: '../../../tsconfig.base.json',
        compilerOptions: { noEmit: true },
        include: ['*.ts'],
      }),
    )
    expect(await node([tsc, '-p', new URL('tsconfig.json', folder).pathname])).toEqual({
      status: 0,
      output: '',
    })
  },
)

test('every `@example` of a docstring is a block', () => {
  const without = examples.filter(({ modules, tags }) => modules.length !== tags)
  expect(without.map(({ path }) => path)).toEqual([])
})

test.concurrent.each(pages)(
  'the $blocks.length blocks of $page run',
  { timeout: 60_000 },
  async ({ file }) => {
    const { general, weblink } = sandbox.credentials
    const { status, output } = await node([new URL(`${file}.ts`, folder).pathname], {
      NODE_EXTRA_CA_CERTS: new URL('ca.pem', folder).pathname,
      // every process loads the same packages
      NODE_COMPILE_CACHE: new URL('compiled', folder).pathname,
      GENERAL_CLIENT_ID: general.clientId,
      GENERAL_CLIENT_SECRET: general.clientSecret,
      WEBLINK_CLIENT_ID: weblink.clientId,
      WEBLINK_CLIENT_SECRET: weblink.clientSecret,
    })
    expect({ status, output }).toMatchObject({ status: 0 })
    for (const secret of [general.clientSecret, weblink.clientSecret]) expect(output).not.toContain(secret)
  },
)

test('the guide explains every error code and every event', () => {
  const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')
  const codes = [...read('packages/core/src/errors.ts').matchAll(/^ {2}\| '(\w+)'$/gm)]
  expect(codes.length).toBeGreaterThan(10)
  const troubleshoot = read('docs/guide/troubleshoot.md')
  for (const [, code] of codes) expect(troubleshoot).toContain(`## ${code}\n`)
  const events = [...read('packages/core/src/events.ts').matchAll(/readonly type: '([\w.]+)'/g)]
  expect(events.length).toBeGreaterThan(10)
  const observe = read('docs/guide/observe.md')
  for (const [, event] of events) expect(observe).toContain(`| \`${event}\``)
})
