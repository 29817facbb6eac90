import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { type Sandbox, startSandbox } from '@tokenlane/sandbox'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'

import { runTokenlane } from '../src/index.ts'
import { tokenlane, type Variables } from './support/run.ts'

// each test starts processes, on a machine that has other things to do
vi.setConfig({ testTimeout: 60_000 })

const application = fileURLToPath(new URL('applications/tokens.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'tokenlane-'))

let sandbox: Sandbox
let good: Variables
beforeAll(async () => {
  sandbox = await startSandbox({ caFile: join(folder, 'ca.pem') })
  good = sandbox.control.environment()
})
afterAll(async () => {
  await sandbox.close()
  rmSync(folder, { recursive: true })
})

test.each([
  ['token', /^[\w-]+\.[\w-]+\.[\w-]+\n$/],
  ['header', /^Authorization: Bearer [\w-]+\.[\w-]+\.[\w-]+\n$/],
  ['env', /^GENERAL_ACCESS_TOKEN=[\w-]+\.[\w-]+\.[\w-]+\n$/],
  ['json', /^\{"issuer":"general","accessToken":"[\w.-]+","expiresAt":"[\d-]+T[\d:.]+Z"\}\n$/],
])('token --print %s prints that to a pipe, and nothing else', async (form, text) => {
  const { status, stdout, stderr } = await tokenlane(['token', 'general', '--print', form], good)
  expect(stdout).toMatch(text)
  expect([status, stderr]).toEqual([0, ''])
})

test('on a terminal a token is printed only with --show', async () => {
  const error = vi.spyOn(console, 'error').mockReturnValue()
  const { isTTY } = process.stdout
  process.stdout.isTTY = true
  try {
    expect(await runTokenlane(['token', 'general'])).toBe(2)
  } finally {
    process.stdout.isTTY = isTTY
  }
  expect(error).toHaveBeenCalledExactlyOnceWith(expect.stringMatching(/^A token on a terminal .* --show$/))
})

test('token says why there is none, with status 1', async () => {
  const wrong = { ...good, GENERAL_CLIENT_SECRET: 'not-the-secret' }
  const { status, stdout, stderr } = await tokenlane(['token', 'general'], wrong)
  expect([status, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/refused: invalid_client \(status 401\).*\nSee tokenlane doctor\n$/)
})

test('call writes the body to standard output, and the story without the token to standard error', async () => {
  const { status, stdout, stderr } = await tokenlane(['call', `${good['API_URL']}records?page=2`], good)
  expect(status).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ page: 2 })
  expect(stderr).toContain(`belongs to ${good['API_URL']}, which takes tokens of general`)
  expect(stderr).toMatch(/general: new token/)
  expect(stderr).toMatch(/ ms {2}status 200, application\/json\n$/)
  expect(stderr).not.toMatch(/Bearer|eyJ|page=2/)
})

test('call has status 1 for a refused call, and its body all the same', async () => {
  const { status, stdout, stderr } = await tokenlane(['call', `${good['API_URL']}nowhere`], good)
  expect(status).toBe(1)
  expect(stderr).toContain('status 404')
  expect(stdout).not.toBe('')
})

test('the application is found in its usual place, or by --module', async () => {
  const { stdout } = await tokenlane(['doctor', '--module', application], good)
  expect(stdout).toContain(`options: ${application}`)
  expect(stdout).toContain('@tokenlane/core 0.0.0')
  const home = join(folder, 'home')
  mkdirSync(join(home, 'src'), { recursive: true })
  writeFileSync(join(home, 'src/tokens.ts'), `export { tokens } from ${JSON.stringify(application)}\n`)
  const inPlace = await tokenlane(['doctor'], good, home)
  expect(inPlace.stdout).toContain('options: src/tokens.ts')
  expect(inPlace.status).toBe(0)
})

test('an application that prints and keeps connections open changes neither output nor end', async () => {
  const home = mkdtempSync(join(folder, 'home-'))
  writeFileSync(
    join(home, 'tokens.mjs'),
    `console.log('connected')\nsetInterval(() => {}, 1_000)\nexport { tokens } from ${JSON.stringify(application)}\n`,
  )
  const { status, stdout, stderr } = await tokenlane(['token', 'general', '--print', 'json'], good, home)
  expect(JSON.parse(stdout)).toMatchObject({ issuer: 'general' })
  expect([status, stderr]).toEqual([0, 'connected\n'])
})

test.each([
  ['no application', ['doctor'], '', /^Found no application: name the module/],
  [
    'a module that is not there',
    ['doctor', '--module', 'no.ts'],
    '',
    /no\.ts cannot be loaded: Error ERR_MODULE_NOT_FOUND/,
  ],
  [
    'a module without `tokens`',
    ['doctor', '--module', 'wrong.mjs'],
    'export const other = 1',
    /wrong\.mjs has no export `tokens`/,
  ],
  [
    '`tokens` of another kind',
    ['doctor', '--module', 'wrong.mjs'],
    'export const tokens = {}',
    /not what `createTokenManager` returns/,
  ],
  [
    'a module that throws, whose message may hold a secret',
    ['call', 'https://api.example.com/', '--module', 'wrong.mjs'],
    "throw new TypeError('the secret is hidden-secret')",
    /wrong\.mjs cannot be loaded: TypeError\n$/,
  ],
])('%s ends with status 3 and says why', async (_, args, module, message) => {
  const home = mkdtempSync(join(folder, 'home-'))
  writeFileSync(join(home, 'wrong.mjs'), module)
  const { status, stdout, stderr } = await tokenlane(args, {}, home)
  expect([status, stdout]).toEqual([3, ''])
  expect(stderr).toMatch(message)
  expect(stderr).not.toContain('hidden-secret')
})

test.each([
  ['an unknown command', ['docter'], /unknown command 'docter'/],
  [
    'an unknown option, without its value',
    ['doctor', '--client-secret=hidden-secret'],
    /^unknown option '--client-secret'\n/,
  ],
  ['an issuer that is not there', ['token', 'genral'], /^Unknown issuer genral; allowed: general, weblink$/m],
  ['another form', ['token', 'general', '--print', 'yaml'], /Allowed choices are token, header, env, json/],
  ['days that are no number', ['doctor', '--secret-days', 'ten'], /a whole number of days/],
  ['what is not a URL', ['call', 'records'], /^Give an absolute URL/],
  [
    'an env file that is not there',
    ['doctor', '--env-file', 'no.env'],
    /^Cannot read --env-file no\.env: ENOENT/,
  ],
])('%s ends with status 2', async (_, args, message) => {
  const { status, stdout, stderr } = await tokenlane(args, good)
  expect([status, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(message)
  expect(stderr).not.toContain('hidden-secret')
})

test.each([[[]], [['--help']], [['doctor', '--help']]])('help (%j) has status 0', async (args) => {
  const { status, stdout } = await tokenlane(args, {})
  expect(status).toBe(0)
  expect(stdout).toMatch(/^Usage: tokenlane/)
  expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
})

test('sandbox is the command of the sandbox', async () => {
  const { status, stdout } = await tokenlane(['sandbox', '--help'], {})
  expect(status).toBe(0)
  expect(stdout).toMatch(/^Usage: tokenlane-sandbox/)
  expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
})

test('bash completes commands, and the options of each', async () => {
  const { stdout } = await tokenlane(['completion', 'bash'], {})
  const complete = (...words: string[]): string => {
    const line = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}`
    const script = `${stdout}\n${line}\n_tokenlane\necho "\${COMPREPLY[*]}"`
    return spawnSync('bash', ['-c', script], { encoding: 'utf8' }).stdout.trim()
  }
  expect(complete('tokenlane', 'do')).toBe('doctor')
  expect(complete('tokenlane', 'token', '--sh')).toBe('--show')
  expect(complete('tokenlane', 'doctor', '--se')).toBe('--secret-days')
})

test.each(['zsh', 'fish'])('there is a completion script for %s', async (shell) => {
  const { status, stdout } = await tokenlane(['completion', shell], {})
  expect(status).toBe(0)
  expect(stdout).toContain('tokenlane')
})
