// Packs every public package and uses the tarballs as a stranger would: outside of the workspace, from ESM and
// CommonJS, at run time and for types. Third-party dependencies are linked from the workspace: no registry needed.
import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const readManifest = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
const env = { ...process.env, PATH: [join(root, 'node_modules', '.bin'), process.env.PATH].join(delimiter) }

const temp = realpathSync(mkdtempSync(join(tmpdir(), 'pack-check-')))
process.on('exit', () => rmSync(temp, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1))
const modules = join(temp, 'node_modules')

const fail = (text) => {
  console.error(`pack-check: ${text}`)
  process.exitCode = 1
}

/** Whether the command succeeded; if not, its output is shown below a line that says what failed. */
const run = (what, command, args, cwd = root) =>
  new Promise((resolve) => {
    const shell = process.platform === 'win32'
    execFile(command, args, { cwd, env, shell, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      if (error) fail(`${what} failed\n${`${stdout}${stderr}`.trim() || error.message}`)
      resolve(!error)
    })
  })

const link = (target, path) => {
  if (existsSync(path)) return
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(realpathSync(target), path, 'junction')
}

const packages = readdirSync(join(root, 'packages'))
  .map((name) => join(root, 'packages', name))
  .filter((folder) => existsSync(join(folder, 'package.json')))
  .map((folder) => ({ folder, manifest: readManifest(folder) }))
  .filter(({ manifest }) => !manifest.private)
  .map(({ folder, manifest: { name, version } }) => ({
    folder,
    name,
    tarball: join(temp, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`),
    installed: join(modules, name),
  }))
const names = packages.map(({ name }) => name)

const expected = /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|(dist|src)\/.+)$/
const unexpected = /\.test\.|\.tsbuildinfo$/

function checkContents({ name, installed }) {
  const files = readdirSync(installed, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(installed.length + 1)
        .replaceAll('\\', '/'),
    )
  const odd = files.filter((file) => !expected.test(file) || unexpected.test(file))
  if (odd.length > 0) fail(`${name} holds what it should not: ${odd.join(', ')}`)
  const absent = ['README.md', 'dist/index.js', 'dist/index.d.ts', 'src/index.ts'].filter(
    (file) => !files.includes(file),
  )
  if (absent.length > 0) fail(`${name} lacks ${absent.join(', ')}`)
}

/** What an install would do with the packed manifest, except that versions are those of the workspace. */
function linkDependencies({ name, folder, installed }) {
  const { dependencies = {}, peerDependencies = {} } = readManifest(installed)
  for (const [dependency, range] of Object.entries({ ...dependencies, ...peerDependencies })) {
    if (/^(workspace|catalog|link|file):/.test(range)) fail(`${name} asks for ${dependency}@${range}`)
    const source = join(folder, 'node_modules', dependency)
    if (names.includes(dependency)) continue
    // a peer is the consumer's own; a dependency is seen by its package alone
    const home = dependency in peerDependencies ? modules : join(installed, 'node_modules')
    if (existsSync(source)) link(source, join(home, dependency))
    else fail(`${name} needs ${dependency}, which is not public or not installed in the workspace`)
  }
}

const list = JSON.stringify([...names, '@tokenlane/core/node'])
const complain = "if (Object.keys(exported).length === 0) throw new Error(name + ' exports nothing')"
const use = `
const tokens = createTokenManager({
  issuers: {
    general: generalIssuer({ authUrl: 'https://auth.example.com', credentials: envCredentials('GENERAL') }),
    weblink: weblinkIssuer({ authUrl: 'https://weblink.example.com', credentials: fileCredentials('/run/secrets/weblink') }),
  },
  apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general' }],
})
const fetchWithTokens = createFetch(tokens)
export const answer: Promise<Response> = fetchWithTokens('https://api.example.com/orders', { tokenlane: { priority: 1 } })
const http = axios.create()
attachTokens(http, tokens)
export const orders: Promise<{ data: unknown }> = http.get('https://api.example.com/orders', { tokenlane: { priority: 1 } })
// @ts-expect-error a priority is a number
export const wrong: Promise<unknown> = http.get('/', { tokenlane: { priority: 'high' } })
const kyClient = ky.extend(kyTokens(tokens))
export const order: Promise<unknown> = kyClient('https://api.example.com/7', { tokenlane: { priority: 1 } }).json()
const gotClient = got.extend(gotTokens(tokens))
const store: TokenStore = redisTokenStore({ client: createClient() })
redisTokenStore({ client: createCluster({ rootNodes: [] }), prefix: 'shop' })
redisTokenStore({ client: new Redis({ lazyConnect: true }) })
createTokenManager({ issuers: {}, apis: [], store })
export const invoices: Promise<unknown[]> = gotClient('https://api.example.com/invoices').json<unknown[]>()
`
const imports = `import { createTokenManager, envCredentials, generalIssuer, type TokenStore, weblinkIssuer } from '@tokenlane/core'
import { fileCredentials } from '@tokenlane/core/node'
import { createFetch } from '@tokenlane/fetch'
import { attachTokens } from '@tokenlane/axios'
import { kyTokens } from '@tokenlane/ky'
import { gotTokens } from '@tokenlane/got'
import { redisTokenStore } from '@tokenlane/redis'
import got from 'got'
import { createClient, createCluster } from 'redis'
import { Redis } from 'ioredis'
`
const consumers = {
  'package.json': '{ "private": true }',
  'run.mjs': `for (const name of ${list}) {\n  const exported = await import(name)\n  ${complain}\n}\n`,
  'run.cjs': `for (const name of ${list}) {\n  const exported = require(name)\n  ${complain}\n}\n`,
  'types.mts': `${imports}import axios from 'axios'\nimport ky from 'ky'\n${use}`,
  'types.cts': `${imports}import axios = require('axios')\nimport { default as ky } from 'ky'\n${use}`,
}

async function useAsStranger() {
  for (const [file, text] of Object.entries(consumers)) writeFileSync(join(temp, file), text)
  link(join(root, 'node_modules', '@types', 'node'), join(modules, '@types', 'node'))
  const tsc = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2023', '--types', 'node']
  const nodenext = [...tsc, '--module', 'nodenext']
  const bundler = [...tsc, '--module', 'esnext', '--moduleResolution', 'bundler']
  await Promise.all([
    run('import by Node', process.execPath, ['run.mjs'], temp),
    run('require() by Node', process.execPath, ['run.cjs'], temp),
    run('types of ESM and CommonJS (nodenext)', 'tsc', [...nodenext, 'types.mts', 'types.cts'], temp),
    run('types of ESM (bundler)', 'tsc', [...bundler, 'types.mts'], temp),
  ])
}

async function packAndExtract() {
  const filters = names.flatMap((name) => ['--filter', name])
  if (!(await run('pnpm pack', 'pnpm', [...filters, 'pack', '--pack-destination', temp]))) return false
  const extracted = await Promise.all(
    packages.map(({ name, tarball, installed }) => {
      mkdirSync(installed, { recursive: true })
      return run(`extracting ${name}`, 'tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'])
    }),
  )
  return extracted.every(Boolean)
}

if ((await run('the build', 'pnpm', ['run', 'build'])) && (await packAndExtract())) {
  for (const item of packages) {
    checkContents(item)
    linkDependencies(item)
  }
  await Promise.all([
    ...packages.map(({ name, tarball }) => run(`publint of ${name}`, 'publint', ['--strict', tarball])),
    useAsStranger(),
  ])
  if (!process.exitCode)
    console.log(`${packages.length} packages: packed, imported, required and type-checked`)
}
