// Long: the real compilers of three versions.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts59 from 'typescript-5.9'
import ts6 from 'typescript-6'
import { afterAll, beforeAll, expect, test } from 'vitest'

// The tables of docs/guide/bootstrap.md on TypeScript, against the real compilers and the declarations that are published.

const root = fileURLToPath(new URL('../../../', import.meta.url))
const [, page = ''] =
  /\n## TypeScript\n(.*?)\n## /s.exec(readFileSync(join(root, 'docs/guide/bootstrap.md'), 'utf8')) ?? []
const tsc = join(root, 'node_modules/typescript/bin/tsc')
const folder = mkdtempSync(join(tmpdir(), 'typescript-'))
afterAll(() => rmSync(folder, { recursive: true }))

type Settings = Readonly<Record<string, unknown>>
/** The first column, and its settings. */
const settings: Readonly<Record<string, Settings>> = {
  '`nodenext`': { module: 'nodenext' },
  '`node20`': { module: 'node20' },
  '`preserve`': { module: 'preserve' },
  '`esnext`, `moduleResolution: "bundler"`': { module: 'esnext', moduleResolution: 'bundler' },
  '`node16`': { module: 'node16' },
  '`commonjs`': { module: 'commonjs' },
  '`commonjs`, `moduleResolution: "bundler"`': { module: 'commonjs', moduleResolution: 'bundler' },
  '`esnext`, `moduleResolution: "node10"`': { module: 'esnext', moduleResolution: 'node10' },
}
const common = { target: 'es2022', strict: true, noEmit: true, types: ['node'], skipLibCheck: true }

const program = `import { createTokenManager, generalIssuer } from '@tokenlane/core'
import { fakeTokens } from '@tokenlane/core/testing'

const credentials = { clientId: 'app', clientSecret: 'secret' }
const tokens = createTokenManager({
  issuers: { general: generalIssuer({ authUrl: 'https://auth.example.com', credentials }) },
  apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general' }],
})
export const token: Promise<{ value: string }> = tokens.getToken('general')
export const { calls } = fakeTokens({ apis: ['https://api.example.com/'] }).counts()
`

function run(...args: readonly string[]): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  execFile(process.execPath, args, { cwd: folder }, (_, stdout, stderr) => resolve(stdout + stderr))
  return promise
}

beforeAll(async () => {
  const core = join(folder, 'node_modules/@tokenlane/core')
  mkdirSync(core, { recursive: true })
  const built = ['-p', join(root, 'packages/core/tsconfig.build.json'), '--emitDeclarationOnly']
  const places = ['--outDir', join(core, 'dist'), '--tsBuildInfoFile', join(folder, '.tsbuildinfo')]
  const faults = await run(tsc, ...built, ...places)
  if (faults !== '') throw new Error(faults)
  const { name, type, publishConfig } = JSON.parse(
    readFileSync(join(root, 'packages/core/package.json'), 'utf8'),
  ) as { name: string; type: string; publishConfig: { exports: object } }
  writeFileSync(join(core, 'package.json'), JSON.stringify({ name, type, exports: publishConfig.exports }))
  mkdirSync(join(folder, 'node_modules/@types'))
  symlinkSync(join(root, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'))
  for (const dependency of ['oauth4webapi', 'p-queue'])
    symlinkSync(
      join(root, 'packages/core/node_modules', dependency),
      join(folder, 'node_modules', dependency),
    )
  for (const kind of ['module', 'commonjs']) {
    mkdirSync(join(folder, kind))
    writeFileSync(join(folder, kind, 'package.json'), JSON.stringify({ type: kind }))
    writeFileSync(join(folder, kind, 'main.ts'), program)
  }
})

interface Compiler {
  /** Returns what is wrong, as `TS1234: text`. */
  diagnose(kind: string, compilerOptions: Settings): Promise<readonly string[]>
}

/** A compiler that is asked from JavaScript; what it parses once serves all programs. */
function inProcess(ts: typeof ts6): Compiler {
  const parsed = new Map<string, ReturnType<import('typescript-6').CompilerHost['getSourceFile']>>()
  return {
    async diagnose(kind, compilerOptions) {
      const { options, errors } = ts.convertCompilerOptionsFromJson(compilerOptions, folder)
      const host = ts.createCompilerHost(options)
      const { getSourceFile } = host
      host.getSourceFile = (file, how, ...others) => {
        const key = `${file} ${JSON.stringify(how)}`
        if (!parsed.has(key)) parsed.set(key, getSourceFile(file, how, ...others))
        return parsed.get(key)
      }
      const made = ts.createProgram([join(folder, kind, 'main.ts')], { ...options }, host)
      return [...errors, ...ts.getPreEmitDiagnostics(made)].map(
        ({ code, messageText }) =>
          `TS${code}: ${ts.flattenDiagnosticMessageText(messageText, ' ').replaceAll(/\s+/g, ' ')}`,
      )
    },
  }
}

const newest: Compiler = {
  async diagnose(kind, compilerOptions) {
    const file = `tsconfig-${kind}.json`
    writeFileSync(join(folder, file), JSON.stringify({ compilerOptions, files: [`${kind}/main.ts`] }))
    const output = await run(tsc, '-p', file)
    return Array.from(output.matchAll(/error (TS\d+: .*)/g), ([, text = '']) => text)
  },
}

const compilers = [inProcess(ts59 as unknown as typeof ts6), inProcess(ts6), newest]
const withoutPlatform = { module: 'nodenext', skipLibCheck: false, types: [], lib: ['es2022'] }

const asked = new Map<string, Promise<readonly string[]>>()
/** Asks a compiler, once for the whole file. */
function diagnose(compiler: Compiler, kind: string, own: Settings): Promise<readonly string[]> {
  const key = JSON.stringify([compilers.indexOf(compiler), kind, own])
  const answer = asked.get(key) ?? compiler.diagnose(kind, { ...common, ...own })
  asked.set(key, answer)
  return answer
}

/** Returns what the page says of one setting and one compiler. */
async function cellOf(compiler: Compiler, settingsOfRow: Settings): Promise<string> {
  const [esm = '', cjs = ''] = await Promise.all(
    ['module', 'commonjs'].map(async (kind) => {
      const diagnostics = await diagnose(compiler, kind, settingsOfRow)
      const codes = new Set(diagnostics.map((text) => text.split(':')[0]))
      return codes.size === 0 ? 'works' : [...codes].join(', ')
    }),
  )
  if (esm === cjs) return esm
  return `${esm} in ESM, ${cjs} in CommonJS`
}

const table = Array.from(
  page.matchAll(/^\| (`.+?) +\| (.+?) +\| (.+?) +\| (.+?) +\|$/gm),
  ([, ...cells]) => cells,
).filter(([name]) => name !== '`module`')

test('the table names every setting, once', () => {
  expect(table.map(([name]) => name)).toEqual(Object.keys(settings))
})

test.each(Object.entries(settings))('what the page says of %s is so', async (name, row) => {
  const cells = await Promise.all(compilers.map((compiler) => cellOf(compiler, row)))
  expect(cells).toEqual(table.find(([first]) => first === name)?.slice(1))
})

test.each([
  { lib: ['es2022'] },
  { target: 'es2020' },
  { target: 'es2023' },
  { types: [], lib: ['es2022', 'dom', 'dom.iterable'] },
])('the declarations of core are sound with %o', async (row) => {
  expect(await diagnose(newest, 'module', { module: 'nodenext', skipLibCheck: false, ...row })).toEqual([])
})

test('without `@types/node` and `dom` the declarations lack names of the platform', async () => {
  const said = await diagnose(newest, 'module', withoutPlatform)
  expect(said).toContain("TS2304: Cannot find name 'AbortSignal'.")
})

test('the compilers say what the page quotes', async () => {
  const said = [...(await diagnose(newest, 'module', withoutPlatform))]
  for (const compiler of compilers)
    for (const row of Object.values(settings))
      for (const kind of ['module', 'commonjs']) said.push(...(await diagnose(compiler, kind, row)))
  const quoted = Array.from(page.matchAll(/`(TS\d+: [^`]+)`/g), ([, text = '']) => text)
  expect(quoted.length).toBeGreaterThan(3)
  const unsaid = quoted.filter((text) => {
    const parts = text.split('…').map((part) => part.trim())
    return !said.some((real) => parts.every((part) => real.includes(part)))
  })
  expect(unsaid).toEqual([])
})
