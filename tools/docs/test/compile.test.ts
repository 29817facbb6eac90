import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { pages, root, writeBlocks } from './blocks.ts'
import { docstringExamples } from './docstrings.ts'

// Every `ts` block of every README and of the guide is compiled, and every `@example` of a docstring. `run.long.ts` runs
// the blocks.

const examples = await docstringExamples()
const counts = {
  blocks: pages.flatMap(({ blocks }) => blocks).length,
  examples: examples.flatMap(({ modules }) => modules).length,
}
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

test(`the ${counts.blocks} blocks of pages and the ${counts.examples} examples of docstrings compile`, async () => {
  const folder = writeBlocks('compiled')
  for (const { path, modules } of examples)
    for (const [index, code] of modules.entries())
      writeFileSync(new URL(`docstring-${path.replaceAll(/\W+/g, '-')}-${index + 1}.ts`, folder), code)
  expect(await compiled(folder)).toBe('')
  rmSync(folder, { recursive: true })
})

test('where an issuer has no URL, the compiler asks for its token endpoint', async () => {
  const folder = new URL('generated/without-url/', import.meta.url)
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    new URL('issuer.ts', folder),
    "import { envCredentials, oauthIssuer } from '@tokenlane/core'\noauthIssuer({ credentials: envCredentials('A') })\n",
  )
  expect(await compiled(folder)).toContain("Property 'tokenEndpoint' is missing in type")
  rmSync(folder, { recursive: true })
})

/** Compiles the files of a folder, and returns what the compiler says. */
async function compiled(folder: URL): Promise<string> {
  const project = new URL('tsconfig.json', folder)
  writeFileSync(
    project,
    JSON.stringify({
      extends: fileURLToPath(new URL('tsconfig.base.json', root)),
      compilerOptions: { noEmit: true },
      include: ['*.ts'],
    }),
  )
  const tsc = fileURLToPath(new URL('node_modules/typescript/bin/tsc', root))
  const { promise, resolve } = Promise.withResolvers<string>()
  execFile(process.execPath, [tsc, '-p', fileURLToPath(project)], (error, stdout, stderr) =>
    resolve(stdout + stderr + (error === null ? '' : error.message)),
  )
  return promise
}

test('every `@example` of a docstring is a block', () => {
  const without = examples.filter(({ modules, tags }) => modules.length !== tags)
  expect(without.map(({ path }) => path)).toEqual([])
})

test('the guide explains every error code and every event', () => {
  const codes = [...read('packages/core/src/errors.ts').matchAll(/^ {2}\| '(\w+)'$/gm)]
  expect(codes.length).toBeGreaterThan(10)
  const troubleshoot = read('docs/guide/troubleshoot.md')
  const [top] = troubleshoot.split('\n## ')
  for (const [, code = ''] of codes) {
    expect(troubleshoot).toContain(`## ${code}\n`)
    expect(top).toContain(`[\`${code}\`](#${code.toLowerCase()})`)
  }
  const events = [...read('packages/core/src/events.ts').matchAll(/^  '([a-z.]+)': /gm)]
  expect(events.length).toBeGreaterThan(10)
  const observe = read('docs/guide/observe.md')
  for (const [, event] of events) expect(observe).toContain(`| \`${event}\``)
})
