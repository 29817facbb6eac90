// Long: a process for each test. What a script reads of a command, and what a signal to it leaves behind.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'

import { main, tokenlane } from './support/run.ts'

let server: Server
let folder: string
/** Whether the issuer answers. */
let answers = true

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume()
    if (request.url !== '/token') return response.end('records')
    const body = JSON.stringify({ access_token: 'token-1', token_type: 'Bearer', expires_in: 3_600 })
    if (answers) response.setHeader('content-type', 'application/json').end(body)
    return undefined
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  // inside of the package, so that its modules are found
  const parent = fileURLToPath(new URL('applications/', import.meta.url))
  mkdirSync(parent, { recursive: true })
  folder = mkdtempSync(join(parent, 'output-'))
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

const url = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

/** Writes the module of an application that does more than to make its tokens. */
function application(name: string, more: string): string {
  const file = join(folder, `${name}.ts`)
  writeFileSync(
    file,
    `import { tokensFor } from '@tokenlane/core'
import { spawnSync } from 'node:child_process'
import { writeSync } from 'node:fs'
export const tokens = tokensFor({
  tokenEndpoint: '${url()}/token', baseUrl: '${url()}/api/', allowInsecureLoopback: true,
  credentials: { clientId: 'client-1', clientSecret: 'a-long-secret-1' },
  observe: () => say('an event'),
})
${more}`,
  )
  return file
}

const noises = {
  console: 'const say = (line) => { console.log(line); console.info(line); console.table([line]) }',
  'process.stdout': 'const say = (line) => process.stdout.write(line + "\\n")',
  'file descriptor 1': 'const say = (line) => writeSync(1, line + "\\n")',
  'a program that it runs': 'const say = (line) => spawnSync("echo", [line], { stdio: "inherit" })',
}

test.concurrent.each(Object.entries(noises))(
  'standard output is the result alone, whatever the application writes to %s',
  async (name, more) => {
    const file = application(`noise-${Object.keys(noises).indexOf(name)}`, `${more}\nsay('loaded')`)
    const outputs = await Promise.all(
      [
        ['token', 'default'],
        ['call', `${url()}/api/records`],
        ['doctor', '--json'],
      ].map((args) => tokenlane([...args, '--module', file], {})),
    )
    const [token, call, doctor] = outputs.map(({ stdout }) => stdout)
    expect(token).toBe('token-1\n')
    expect(call).toBe('records')
    expect(JSON.parse(doctor ?? '')).toHaveProperty('looked')
    for (const { stderr } of outputs) expect(stderr).toMatch(/loaded[^]*an event/)
  },
)

test('a large body arrives whole, and a reader that closes its pipe early ends the command', async () => {
  const large = createServer((request, response) => {
    request.resume()
    const isToken = request.url === '/token'
    const body = JSON.stringify({ access_token: 'token-1', token_type: 'Bearer', expires_in: 3_600 })
    response.setHeader('content-type', 'application/json').end(isToken ? body : 'x'.repeat(5_000_000))
  }).listen(0, '127.0.0.1')
  await once(large, 'listening')
  onTestFinished(() => void large.close())
  const { port } = large.address() as AddressInfo
  const file = application('large', 'function say() {}')
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(url(), `http://127.0.0.1:${port}`))
  const args = ['call', `http://127.0.0.1:${port}/api/x`, '--module', file]
  expect((await tokenlane(args, {})).stdout).toHaveLength(5_000_000)
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'ignore'] })
  child.stdout.once('data', () => child.stdout.destroy())
  expect(await once(child, 'exit')).toEqual([0, null])
})

test("a process that may start no other says so in Node's words", async () => {
  const NODE_OPTIONS = '--permission --allow-fs-read=* --disable-warning=SecurityWarning'
  const { status, stdout, stderr } = await tokenlane(['token'], {
    NODE_OPTIONS,
    NODE_COMPILE_CACHE: undefined,
  })
  expect({ status, stdout }).toEqual({ status: 3, stdout: '' })
  expect(stderr).toMatch(/^Cannot start a process for the command: .*--allow-child-process[^\n]*\n$/)
})

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
  ['SIGQUIT', 131],
  ['SIGKILL', null],
] as const)(
  '%s to the command leaves nothing behind, though its application keeps signals',
  async (signal, status) => {
    answers = false
    onTestFinished(() => void (answers = true))
    const pidFile = join(folder, `pid-${signal}`)
    const keep = 'for (const name of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]) process.on(name, () => {})'
    const file = application(
      `signal-${signal}`,
      `function say() {}\n${keep}\nwriteSync(1, '')\nimport { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(pidFile)}, String(process.pid))`,
    )
    const child = spawn(process.execPath, [main, 'token', 'default', '--module', file], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    // the file is there before what is written to it
    await vi.waitFor(() => expect(readFileSync(pidFile, 'utf8')).toMatch(/^\d+$/))
    const pid = Number(readFileSync(pidFile, 'utf8'))
    child.kill(signal)
    const [code] = (await once(child, 'exit')) as [number | null]
    // killed by its first process after a while, since it kept the signal
    expect([status, 137]).toContain(code)
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false))
  },
)
