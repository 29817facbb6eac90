import { globSync, readFileSync } from 'node:fs'
import { root } from './blocks.ts'

/** What users import by name. */
const entries = [
  '@tokenlane/axios',
  '@tokenlane/core/fleet',
  '@tokenlane/core',
  '@tokenlane/core/node',
  '@tokenlane/core/tenants',
  '@tokenlane/core/testing',
  '@tokenlane/fetch',
  '@tokenlane/got',
  '@tokenlane/ky',
  '@tokenlane/otel',
  '@tokenlane/redis',
  '@tokenlane/sandbox',
  '@tokenlane/undici',
]
const clients = ['axios', 'got', 'ky']

/** What examples leave to the program around them. */
const around = {
  MyStore: "new () => import('@tokenlane/core/fleet').TokenStore",
  apis: "import('@tokenlane/core').ApiOptions[]",
  client: "ReturnType<typeof import('redis').createClient>",
  credentialsOf: "(tenant: string) => Promise<import('@tokenlane/core').Credentials>",
  error: 'unknown',
  issuers: "import('@tokenlane/core').TokenManagerOptions['issuers']",
  signal: 'AbortSignal',
  slowDown: '() => void',
  tokens: "import('@tokenlane/core').TokenManager",
}

/** The `@example` blocks of a source file, each as a module. */
export interface Examples {
  /** From the root. */
  readonly path: string
  readonly modules: readonly string[]
  /** How often the tag is there: one block each. */
  readonly tags: number
}

/** The examples in the docstrings of all packages, each with the imports that an editor would add. */
export async function docstringExamples(): Promise<Examples[]> {
  const lines = await linesByName()
  return globSync('packages/*/src/**/*.ts', { cwd: root })
    .filter((path) => !path.endsWith('.test.ts'))
    .toSorted()
    .map((path) => {
      const text = readFileSync(new URL(path, root), 'utf8')
      const modules = blocksOf(text).map((block) => moduleOf(block, lines))
      return { path, modules, tags: text.match(/^ *\* @example\b/gm)?.length ?? 0 }
    })
    .filter(({ modules, tags }) => modules.length + tags > 0)
}

/** For each name that a block may use without more ado, the line that makes it known. */
async function linesByName(): Promise<Map<string, string>> {
  const lines = new Map<string, string>()
  for (const [name, type] of Object.entries(around)) lines.set(name, `declare const ${name}: ${type}`)
  for (const name of clients) lines.set(name, `import ${name} from '${name}'`)
  for (const entry of entries)
    for (const name of Object.keys((await import(entry)) as object))
      lines.set(name, `import { ${name} } from '${entry}'`)
  for (const name of ['Agent', 'request']) lines.set(name, `import { ${name} } from 'undici'`)
  return lines
}

function blocksOf(text: string): string[] {
  return Array.from(text.matchAll(/^ *\* ```ts\n(.*?)^ *\* ```$/gms), ([, block = '']) =>
    block.replaceAll(/^ *\* ?/gm, ''),
  )
}

function moduleOf(block: string, lines: ReadonlyMap<string, string>): string {
  const own = new Set(Array.from(block.matchAll(/^const (\w+)/gm), ([, name]) => name))
  const used = Array.from(lines.keys()).filter(
    // neither a property nor its key
    (name) => !own.has(name) && new RegExp(`(?<![.\\w'])${name}\\b(?!:)`).test(block),
  )
  // what is exported need not be used
  const code = block.replaceAll(/^const /gm, 'export const ')
  return [...used.map((name) => lines.get(name)), code].join('\n')
}
