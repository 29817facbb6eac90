// Long: a compiler reads the declarations as they are published, as an application on each runtime has them.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { afterAll, beforeAll, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const tsc = join(root, 'node_modules/typescript/bin/tsc')
const folder = mkdtempSync(join(tmpdir(), 'fetch-types-'))
afterAll(() => rmSync(folder, { recursive: true }))

const program = `import { createFetch } from '@tokenlane/fetch'
import type { TokenManager } from '@tokenlane/core'

declare const tokens: TokenManager
const own: typeof fetch = createFetch(tokens)
globalThis.fetch = createFetch(tokens, { fetch })
export const status = own('https://api.example.com/', { method: 'POST', body: 'x' }).then((response) => response.status)
const withOptions = createFetch(tokens)
export const first = withOptions(new URL('https://api.example.com/'), { tokenlane: { priority: 1 } })
type Init = NonNullable<Parameters<typeof withOptions>[1]>
const init: Init = { method: 'PUT' }
init.tokenlane = { resend: false }
export const second = withOptions(new Request('https://api.example.com/'), init)
// @ts-expect-error a name that no \`fetch\` knows
void withOptions('https://api.example.com/', { metod: 'PUT' })
// @ts-expect-error nor do we
void withOptions('https://api.example.com/', { tokenlane: { prio: 1 } })
`
const ofBun = `${program}
export const third = withOptions('https://api.example.com/', { proxy: 'http://proxy', tls: {}, tokenlane: { cost: 2 } })
`

const runtimes: Readonly<Record<string, readonly [types: string, lib: readonly string[], program: string]>> =
  {
    Node: ['node', ['es2023'], program],
    Bun: ['bun-types', ['es2023'], ofBun],
    'a page': ['', ['es2023', 'dom', 'dom.iterable'], program],
  }

function run(...args: readonly string[]): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  execFile(process.execPath, [tsc, ...args], { cwd: folder }, (_, stdout, stderr) => resolve(stdout + stderr))
  return promise
}

beforeAll(async () => {
  for (const name of ['core', 'fetch']) {
    const place = join(folder, 'node_modules/@tokenlane', name)
    mkdirSync(place, { recursive: true })
    const own = ['-p', join(root, 'packages', name, 'tsconfig.build.json'), '--emitDeclarationOnly']
    const places = ['--outDir', join(place, 'dist'), '--tsBuildInfoFile', join(folder, `.${name}`)]
    const faults = await run(...own, ...places)
    if (faults !== '') throw new Error(faults)
    const manifest = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')) as {
      publishConfig: { exports: object }
    }
    const { exports } = manifest.publishConfig
    writeFileSync(
      join(place, 'package.json'),
      JSON.stringify({ name: `@tokenlane/${name}`, type: 'module', exports }),
    )
  }
  mkdirSync(join(folder, 'node_modules/@types'))
  symlinkSync(join(root, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'))
  symlinkSync(
    fileURLToPath(new URL('.', import.meta.resolve('bun-types/package.json'))),
    join(folder, 'node_modules/bun-types'),
  )
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
})

test.each(Object.entries(runtimes))(
  'with the types of %s, `createFetch` is a `typeof fetch` that takes `tokenlane`',
  async (name, [types, lib, text]) => {
    const file = `${name.replace(' ', '-')}.ts`
    writeFileSync(join(folder, file), text)
    const settings = ['--module', 'nodenext', '--target', 'es2023', '--strict', '--noEmit', '--skipLibCheck']
    expect(await run(file, ...settings, '--types', types, '--lib', lib.join())).toBe('')
  },
)
