// Long: a process for each test.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { type Sandbox, startSandbox } from '@tokenlane/sandbox'
import { type RedisServer, startRedis } from '@tokenlane/testing/redis-server'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'

import type { Diagnosis } from '../src/doctor/doctor.ts'
import { runTokenlane } from '../src/index.ts'
import { main, tokenlane, type Variables } from './support/run.ts'
import {
  closeServers,
  deadPort,
  silentPort,
  testAuthority,
  tlsServer,
  tokenServer,
} from './support/servers.ts'

// each test starts processes, on a machine that has other things to do

const application = fileURLToPath(new URL('applications/tokens.ts', import.meta.url))
const fleet = fileURLToPath(new URL('applications/fleet.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'tokenlane-'))

let sandbox: Sandbox
let redis: RedisServer
let good: Variables
beforeAll(async () => {
  sandbox = await startSandbox({ caFile: join(folder, 'ca.pem') })
  redis = await startRedis()
  good = sandbox.control.environment()
})
afterAll(async () => {
  closeServers()
  await Promise.all([sandbox.close(), redis.close()])
  rmSync(folder, { recursive: true })
})

/** Returns the path of a file with the authorities of the sandbox and of the servers of these tests. */
function bothAuthorities(): string {
  const file = join(folder, 'both.pem')
  writeFileSync(file, `${sandbox.ca}\n${testAuthority}`)
  return file
}

/** Runs a script, and returns its output and errors. */
async function bash(script: string, env: Variables, cwd = folder): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const variables = { PATH: process.env['PATH'], NODE: process.execPath, MAIN: main, ...env }
  execFile('bash', ['--norc', '-c', script], { cwd, env: variables }, (_, stdout, stderr) =>
    resolve(stdout + stderr),
  )
  return promise
}

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

describe('an application with one issuer', () => {
  const module = fileURLToPath(new URL('applications/any-issuer.ts', import.meta.url))
  const env = (): Variables => ({
    ...good,
    TOKEN_ENDPOINT: sandbox.control.state().issuers.general.tokenEndpoint,
  })

  test('needs no name for its token', async () => {
    const { status, stdout } = await tokenlane(['token', '--module', module], env())
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+\n$/)])
  })

  test('that logs events itself gets each of them once from call', async () => {
    const args = ['call', `${good['API_URL']}records`, '--module', module]
    const { stderr } = await tokenlane(args, { ...env(), LOGS: 'yes' })
    const lines = stderr.split('\n').map((line) => line.replace(/^ *\d+ ms +/, ''))
    expect(stderr).toContain('new token')
    expect(lines.filter((line) => line.includes('new token'))).toHaveLength(1)
    expect(new Set(lines.filter(Boolean)).size).toBe(lines.filter(Boolean).length)
  })
})

test.each([
  [
    'of environment variables',
    [],
    /^token store: failed \(unreadable\); this process requests its own tokens\n$/,
  ],
  ['whose module has its token before it is observed', ['--module', application], /^$/],
])('five runs with --cache of an application %s make one token request', async (_, options, said) => {
  const issue = vi.fn(tokenServer(200, { access_token: 'a.b.c', token_type: 'bearer', expires_in: 3_600 }))
  const home = mkdtempSync(join(folder, 'home-'))
  const env = {
    ...good,
    AUTH_URL: await tlsServer(issue),
    NODE_EXTRA_CA_CERTS: bothAuthorities(),
    WARM_UP: '1',
    XDG_CACHE_HOME: home,
  }
  for (let run = 0; run < 5; run += 1)
    expect(await tokenlane(['token', 'general', '--cache', ...options], env)).toEqual({
      status: 0,
      stdout: 'a.b.c\n',
      stderr: '',
    })
  expect(issue).toHaveBeenCalledOnce()
  await tokenlane(['call', `${good['API_URL']}records`, '--cache', ...options], env)
  expect(issue).toHaveBeenCalledTimes(2)

  const [name = ''] = readdirSync(join(home, 'tokenlane'))
  const [file = ''] = readdirSync(join(home, 'tokenlane', name))
  writeFileSync(join(home, 'tokenlane', name, file), 'damaged')
  utimesSync(join(home, 'tokenlane', name, file), 0, 0)
  const { stdout, stderr } = await tokenlane(['token', 'general', '--cache', ...options], env)
  expect(stdout).toBe('a.b.c\n')
  expect(stderr).toMatch(said)
})

test('in a shell, eval "$(tokenlane token … --print env)" sets a token whatever the issuer chose', async () => {
  const value = `a'$(touch\${IFS}ran);touch\${IFS}ran`
  const url = await tlsServer(tokenServer(200, { access_token: value, token_type: 'bearer' }))
  const home = mkdtempSync(join(folder, 'home-'))
  const output = await bash(
    'eval "$("$NODE" -- "$MAIN" token general --print env)"; printf %s "$GENERAL_ACCESS_TOKEN"; ls',
    { ...good, AUTH_URL: url, NODE_EXTRA_CA_CERTS: bothAuthorities() },
    home,
  )
  expect(output).toBe(value)
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
  expect(error).toHaveBeenCalledExactlyOnceWith(
    expect.stringMatching(/^A token printed to a terminal .* --show$/),
  )
})

test('token says why there is none, with status 1', async () => {
  const wrong = { ...good, GENERAL_CLIENT_SECRET: 'not-the-secret' }
  const { status, stdout, stderr } = await tokenlane(['token', 'general'], wrong)
  expect([status, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/refused: invalid_client \(status 401.*\nRun `tokenlane doctor` to find out why\n$/)
})

test('call writes the body to standard output, and the story without the token to standard error', async () => {
  const { status, stdout, stderr } = await tokenlane(['call', `${good['API_URL']}records?page=2`], good)
  expect(status).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ page: 2 })
  expect(stderr).toContain(`The URL belongs to ${good['API_URL']}, which accepts tokens from general`)
  expect(stderr).toMatch(/general: new token/)
  expect(stderr).toMatch(/ ms {2}status 200, application\/json\n$/)
  expect(stderr).not.toMatch(/Bearer|eyJ|page=2/)
})

test.each([
  [['token', 'general'], 'AUTH_URL'],
  [['call', 'https://127.0.0.1/records'], 'AUTH_URL'],
  [['token', 'weblink'], 'WEBLINK_AUTH_URL'],
])('%j names the missing variable %s, and requests nothing', async (args, name) => {
  const { status, stdout, stderr } = await tokenlane(args, { ...good, [name]: undefined })
  expect([status, stdout]).toEqual([3, ''])
  expect(stderr).toMatch(
    new RegExp(`^Missing environment variable: ${name} .*\nRun \`tokenlane doctor\` to find out why\n$`),
  )
})

test('call says why it sends no token to an API whose URL is missing', async () => {
  const url = `${good['WEBLINK_URL']}records`
  const { status, stderr } = await tokenlane(['call', url], { ...good, WEBLINK_URL: undefined })
  expect(status).toBe(1)
  expect(stderr).toContain(
    'The URL is outside every configured API, so the call is sent without a token. Missing environment variable: WEBLINK_URL\n',
  )
})

test('token needs no API, and an application without any URL is told which variables it needs', async () => {
  const issuerAlone = { ...good, API_URL: undefined }
  expect(await tokenlane(['token', 'general'], issuerAlone)).toMatchObject({ status: 0, stderr: '' })
  const { stderr } = await tokenlane(['doctor'], { WEBLINK_CLIENT_ID: 'client' })
  expect(stderr).toMatch(/ or set WEBLINK_AUTH_URL, WEBLINK_URL, WEBLINK_CLIENT_SECRET, or use --env-file\n$/)
})

test('call has status 1 for a refused call, and its body all the same', async () => {
  const { status, stdout, stderr } = await tokenlane(['call', `${good['API_URL']}nowhere`], good)
  expect(status).toBe(1)
  expect(stderr).toContain('status 404')
  expect(stdout).not.toBe('')
})

test('call says that it waits for a response, and ends after its time limit', async () => {
  const API_URL = await tlsServer(() => {})
  const env = { ...good, API_URL, NODE_EXTRA_CA_CERTS: bothAuthorities() }
  const { status, stdout, stderr } = await tokenlane(['call', `${API_URL}/records`, '--timeout', '3'], env)
  expect([status, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/ ms {2}No response yet: the call waits 3 s at most\n/)
  expect(stderr).toMatch(
    / ms {2}The call failed: no response in 3 s\nRun `tokenlane doctor` to find out why\n$/,
  )
})

test('call prints what a server wrote on one line, without what a terminal would obey', async () => {
  const hostile = `text/\u009B31mplain${'; charset=utf-8'.repeat(100)}`
  const API_URL = await tlsServer((_, response) =>
    response.writeHead(200, { 'content-type': hostile }).end('{}'),
  )
  const env = { ...good, API_URL, NODE_EXTRA_CA_CERTS: bothAuthorities() }
  const { status, stdout, stderr } = await tokenlane(['call', `${API_URL}/records`], env)
  expect([status, stdout]).toEqual([0, '{}'])
  const line = stderr.split('\n').find((one) => one.includes('charset')) ?? ''
  expect(line).toMatch(/^ +\d+ ms {2}status 200, text\/ 31mplain; charset=utf-8/)
  expect(line.length).toBeLessThan(300)
  expect(stderr.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
})

test('a program that reads only the beginning of the output ends call without an error', async () => {
  const API_URL = await tlsServer((_, response) => response.end('a'.repeat(10_000_000)))
  const output = await bash(
    '"$NODE" -- "$MAIN" call "$API_URL/records" | head -c 1; echo " ${PIPESTATUS[0]}"',
    {
      ...good,
      API_URL,
      NODE_EXTRA_CA_CERTS: bothAuthorities(),
    },
  )
  expect(output).toMatch(/^a 0\n/)
  expect(output).not.toContain('process.exit')
  expect(output).not.toContain('Cannot write')
})

test.runIf(process.platform === 'linux')('a result that cannot be written is no success', async () => {
  const written = '"$NODE" -- "$MAIN" $0 > /dev/full; echo $?'
  for (const command of ['token general', 'call "$API_URL/records"', 'doctor --json', '--help']) {
    const output = await bash(written.replace('$0', command), {
      ...good,
      NODE_EXTRA_CA_CERTS: bothAuthorities(),
    })
    expect(output, command).toMatch(/Cannot write to standard output: ENOSPC\b/)
    expect(output, command).toMatch(/^3\n/)
  }
})

test('the sandbox leaves no secret behind if only the beginning of its output is read', async () => {
  const temporary = join(folder, 'closed')
  mkdirSync(temporary)
  const child = spawn(process.execPath, ['--', main, 'sandbox', '--write-env', join(temporary, '.env')], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  expect(readdirSync(temporary)).toContain('.env')
  child.stdout.destroy()
  child.kill('SIGTERM')
  expect(await once(child, 'close')).toEqual([0, null])
  expect(readdirSync(temporary)).toEqual([])
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

test('a module in TypeScript may import another one by the name that it has after a build', async () => {
  const home = mkdtempSync(join(folder, 'home-'))
  mkdirSync(join(home, 'src'))
  writeFileSync(join(home, 'src/tokens.ts'), "export { tokens } from './made/by.js'\n")
  mkdirSync(join(home, 'src/made'))
  writeFileSync(
    join(home, 'src/made/by.ts'),
    `import { tokens as all } from ${JSON.stringify(application)}\nexport const tokens: typeof all = all\n`,
  )
  expect(await tokenlane(['doctor'], good, home)).toMatchObject({ status: 0 })
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
    /^no\.ts cannot be loaded: Error ERR_MODULE_NOT_FOUND: Cannot find module '.*no\.ts'\.\n$/,
  ],
  [
    'TypeScript that Node does not run',
    ['doctor', '--module', 'wrong.mts'],
    '\nexport enum Wrong { one }',
    /^wrong\.mts cannot be loaded: SyntaxError ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX: TypeScript enum is not supported in strip-only mode \(wrong\.mts:2\)\. Node only strips types: build the module and name the compiled file, such as --module dist\/tokens\.js\. If tsx is installed, you can set NODE_OPTIONS='--import tsx' instead\.\n$/,
  ],
  ...['~/config', './config'].map((name): [string, string[], string, RegExp] => [
    `a module that imports ${name}`,
    ['doctor', '--module', 'wrong.mts'],
    `import '${name}'`,
    /imported from .*wrong\.mts\. Node resolves neither path aliases nor files without their extension: build the module/,
  ]),
  [
    'a module that imports what is not there',
    ['doctor', '--module', 'wrong.mts'],
    "import './missing.js'",
    /^wrong\.mts cannot be loaded: Error ERR_MODULE_NOT_FOUND: Cannot find module '.*missing\.js' imported from .*wrong\.mts\.\n$/,
  ],
  [
    'a module without `tokens`',
    ['doctor', '--module', 'wrong.mjs'],
    'export const other = 1',
    /wrong\.mjs has no export `tokens`/,
  ],
  [
    'an ES module beside a package.json that does not say so',
    ['doctor', '--module', 'wrong.js'],
    'export const other = 1',
    /^wrong\.js has no export `tokens`[^\n]*\n$/,
  ],
  [
    '`tokens` of another kind',
    ['doctor', '--module', 'wrong.mjs'],
    'export const tokens = {}',
    /not a token manager \(what `createTokenManager` returns\)/,
  ],
  [
    'a module that throws, whose message has a second line',
    ['call', 'https://api.example.com/', '--module', 'wrong.mjs'],
    "throw new TypeError('the secret is\\n    at file:///hidden-secret:1:1')",
    /wrong\.mjs cannot be loaded: TypeError: the secret is \(wrong\.mjs:1\)\.\n$/,
  ],
  [
    'a module that throws an error with a secret of the environment',
    ['doctor', '--module', 'wrong.mjs'],
    "throw new Error('HIDDENSECRET hidden-secret')",
    /wrong\.mjs cannot be loaded: Error: HIDDENSECRET \[GENERAL_CLIENT_SECRET\] \(wrong\.mjs:1\)\.\n$/,
  ],
  [
    'a module that throws a URL and a key',
    ['doctor', '--module', 'wrong.mjs'],
    "throw new RangeError('no redis://me:hidden-secret@cache:6379 for hidden-secret-0123456789abcdef')",
    /wrong\.mjs cannot be loaded: RangeError: no redis:\/\/…@cache:6379 for \S+ \(wrong\.mjs:1\)\.\n$/,
  ],
  [
    'a module that reads what is not JSON',
    ['doctor', '--module', 'wrong.mjs'],
    `JSON.parse('{ "clientSecret": hidden-secret }')`,
    /wrong\.mjs cannot be loaded: SyntaxError: Unexpected token 'h' is not valid JSON \(wrong\.mjs:1\)\.\n$/,
  ],
  [
    'a module with a syntax error',
    ['doctor', '--module', 'wrong.mjs'],
    'const = 1',
    /wrong\.mjs cannot be loaded: SyntaxError: Unexpected token '='\.\n$/,
  ],
  [
    'a module that throws nothing',
    ['doctor', '--module', 'wrong.mjs'],
    'throw undefined',
    /^wrong\.mjs cannot be loaded: unknown\.\n$/,
  ],
  [
    'a module whose await has nothing to wait for',
    ['doctor', '--module', 'wrong.mjs'],
    'await new Promise(() => {})',
    /^wrong\.mjs never finishes loading: a top-level `await` is still pending\. Make that `await` fail instead/,
  ],
  [
    'a module whose await lasts',
    ['doctor', '--module', 'wrong.mjs', '--load-timeout', '1'],
    'await new Promise((resolve) => setTimeout(resolve, 3_600_000))',
    /^wrong\.mjs has not loaded in 1 s: a top-level `await` is still pending\. .* Or raise --load-timeout\.\n$/,
  ],
  [
    'a module that waits for a server',
    ['call', 'https://api.example.com/', '--module', 'wrong.mjs', '--load-timeout', '1'],
    `import { connect, createServer } from 'node:net'
const { promise } = Promise.withResolvers()
const server = createServer().listen(0, '127.0.0.1', () => connect(server.address().port, '127.0.0.1'))
await promise`,
    / Its connections: 127\.0\.0\.1:\d+ \(no response\)\./,
  ],
  [
    'a module that ends the process',
    ['token', 'general', '--module', 'wrong.mjs'],
    'process.exit(0)',
    /^wrong\.mjs called process\.exit\(0\), so nothing was checked\n$/,
  ],
  [
    'a module that fails outside of its await',
    ['doctor', '--module', 'wrong.mjs'],
    "setTimeout(() => { throw new TypeError('hidden-secret') })\nawait new Promise(() => {})",
    /^wrong\.mjs crashed with an uncaught error: TypeError: \[GENERAL_CLIENT_SECRET\] \(wrong\.mjs:1\)\n$/,
  ],
  [
    'a module that forgets a promise',
    ['doctor', '--module', 'wrong.mjs'],
    "Promise.reject(new TypeError('hidden-secret'))\nawait new Promise(() => {})",
    /^wrong\.mjs crashed with an uncaught error: TypeError: \[GENERAL_CLIENT_SECRET\] \(wrong\.mjs:1\)\n$/,
  ],
])('%s ends with status 3 and says why', async (_, args, module, message) => {
  const home = mkdtempSync(join(folder, 'home-'))
  writeFileSync(join(home, args.find((one) => one.startsWith('wrong.')) ?? 'wrong.mjs'), module)
  const env = { GENERAL_CLIENT_SECRET: 'hidden-secret' }
  const { status, stdout, stderr } = await tokenlane(args, env, home)
  expect([status, stdout]).toEqual([3, ''])
  expect(stderr).toMatch(message)
  expect(stderr).not.toContain('hidden-')
})

test('the sandbox is called as it was typed', async () => {
  const { stdout } = await tokenlane(['sandbox', '--help'], {})
  expect(stdout).toMatch(/^Usage: tokenlane sandbox \[options\]/)
  expect(stdout).not.toMatch(/tokenlane-sandbox|@tokenlane\/sandbox/)
  const { status, stderr } = await tokenlane(['sandbox', '--authentication', 'general=none'], {})
  expect([status, stderr]).toEqual([
    2,
    expect.stringMatching(/^The text after --authentication general= must be /),
  ])
  expect(stderr).toMatch(/\nSee tokenlane sandbox --help\n$/)
})

test.each([
  ['an unknown command', ['docter'], /unknown command 'docter'/],
  [
    'an unknown option, without its value',
    ['doctor', '--client-secret=hidden-secret'],
    /^unknown option '--client-secret'\n/,
  ],
  ['an issuer that is not there', ['token', 'genral'], /^Unknown issuer genral; allowed: general, weblink$/m],
  ['no issuer among several', ['token'], /^Name an issuer: general, weblink$/m],
  ['another form', ['token', 'general', '--print', 'yaml'], /Allowed choices are token, header, env, json/],
  ['days that are no number', ['doctor', '--secret-days', 'ten'], /a whole number of days/],
  ['no time to load', ['doctor', '--load-timeout', '0'], /a whole number of seconds, from 1 to 9999/],
  ['what is not a URL', ['call', 'records'], /^Pass an absolute URL/],
  ['what is not a URL', ['doctor', '--url', 'foo'], /^Pass an absolute URL/],
  ['a path', ['doctor', '--url', '/records'], /^Pass an absolute URL/],
  ['an empty URL', ['doctor', '--url', ''], /^Pass an absolute URL/],
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

test.each([
  [
    'a file in UTF-16, as PowerShell writes it',
    Buffer.from('GENERAL_CLIENT_SECRET=hidden-secret\r\n', 'utf16le'),
  ],
  ['an environment as /proc shows it', 'HOME=/root\0GENERAL_CLIENT_SECRET=hidden-secret\0'],
])('--env-file does not take %s, nor print its secrets', async (_, content) => {
  writeFileSync(join(folder, 'nul.env'), content)
  const { status, stdout, stderr } = await tokenlane(['doctor', '--env-file', 'nul.env'], good, folder)
  expect([status, stdout]).toEqual([2, ''])
  expect(stderr).toBe('Cannot read --env-file nul.env: save it as UTF-8, with a line for each variable\n')
})

test.each([
  [['doctor', '--url', 'foo'], 2, /^Pass an absolute URL/],
  [['doctor', '--days'], 2, /^unknown option '--days'\nSee tokenlane doctor --help$/],
  [['judge', '--scene', 'none'], 2, /^missing required argument 'command'\nSee tokenlane judge --help$/],
  [['--days'], 2, /^unknown option '--days'\nSee tokenlane --help$/],
  [['doctor', '--module', 'no.ts'], 3, /^no\.ts cannot be loaded/],
  [['doctor', '--module', 'exit.mjs'], 3, /^exit\.mjs called process\.exit\(0\)/],
])('%j with --json prints one object', async (args, expected, error) => {
  const home = mkdtempSync(join(folder, 'home-'))
  writeFileSync(join(home, 'exit.mjs'), 'process.exit(0)')
  const { status, stdout, stderr } = await tokenlane([...args, '--json'], good, home)
  expect(status).toBe(expected)
  const told = JSON.parse(stdout) as { readonly error: string }
  expect(told).toEqual({ ok: false, error: expect.stringMatching(error) as string })
  expect(stderr).toBe(`${told.error}\n`)
})

test('the help of judge fits a terminal of 80 columns', async () => {
  const { stdout } = await tokenlane(['judge', '--help'], { COLUMNS: '80' })
  expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
})

test('--version prints the version, as reports of faults want it', async () => {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  const { version } = JSON.parse(manifest) as { version: string }
  expect(await tokenlane(['--version'], {})).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' })
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
  expect(stdout).toMatch(/^Usage: tokenlane sandbox/)
  expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
})

describe.concurrent('the module of the guide does not wait for a Redis that it cannot use', () => {
  const guide = readFileSync(new URL('../../../docs/guide/fleet.md', import.meta.url), 'utf8')
  const [, module = ''] = /^```ts\n(.*?)^```$/ms.exec(guide) ?? []

  test.each([
    ['is down', async () => `redis://127.0.0.1:${await deadPort()}`, 'ECONNREFUSED', ' ECONNREFUSED'],
    [
      'has another password',
      async () => `redis://someone:wrong@127.0.0.1:${redis.port}`,
      'WRONGPASS',
      ' WRONGPASS',
    ],
    [
      'never responds',
      async () => `redis://127.0.0.1:${await silentPort()}`,
      'no response',
      ': Socket timeout',
    ],
  ])('one that %s', async (_, url, reason, error) => {
    const place = await url()
    const home = mkdtempSync(fileURLToPath(new URL('applications/guide-', import.meta.url)))
    try {
      writeFileSync(join(home, 'tokens.ts'), module.replace('redis://redis.example.com:6379', place))
      const { status, stdout, stderr } = await tokenlane(
        ['doctor', '--json', '--load-timeout', '60'],
        good,
        home,
      )
      expect(status).toBe(1)
      expect(stderr).not.toContain('cannot be loaded')
      const { findings } = JSON.parse(stdout) as Diagnosis
      expect(findings).toMatchObject([{ id: 'store-failed', severity: 'error', subject: 'token store' }])
      expect(findings[0]?.seen).toMatch(
        new RegExp(
          `^Connecting failed \\(${reason}\\)\\. Its connections: 127\\.0\\.0\\.1:\\d+ \\(@redis/client: ${reason}\\)\\.$`,
        ),
      )
      expect(stdout).not.toContain('wrong')
      const token = await tokenlane(['token', 'weblink', '--load-timeout', '60'], good, home)
      expect([token.status, token.stdout]).toEqual([3, ''])
      expect(token.stderr).toContain(`tokens.ts cannot be loaded: Error${error}`)
    } finally {
      rmSync(home, { recursive: true })
    }
  })

  test('one that the module waits for all the same is named', async () => {
    const place = `redis://127.0.0.1:${await deadPort()}`
    const env = { ...good, REDIS_URL: place, WAIT_FOR_REDIS: '1' }
    const { status, stderr } = await tokenlane(['doctor', '--module', fleet, '--load-timeout', '20'], env)
    expect(status).toBe(3)
    // mostly `ECONNREFUSED, 53 times`: the last try may be under way, and another test may get the dead port
    expect(stderr).toMatch(/ Its connections: 127\.0\.0\.1:\d+ \(@redis\/client: [^)]+\)\./)
  })
})
