// Long: a process for each test.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { afterAll, expect, onTestFinished, test, vi } from 'vitest'

import { makeCertificates } from '../server/certificates.ts'

// each test starts processes, which can take long on a busy machine

const main = fileURLToPath(new URL('main.ts', import.meta.url))
const express = fileURLToPath(new URL('../../../../examples/express/main.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'command-'))
afterAll(() => rmSync(folder, { recursive: true }))

const run = (...args: string[]) => spawnSync(main, args, { encoding: 'utf8', timeout: 30_000 })
/** Returns the command line that runs this code as a program of its own. */
const program = (code: string): string[] => [process.execPath, '--input-type=module', '--eval', code]
const callWithoutToken = 'console.log((await fetch(process.env.API_URL + "records")).status)'

interface Ready {
  ca: string
  control: string
  console: string
  token: string
  env: Record<string, string>
}

/** Starts the command and reads its line of JSON. */
async function start(...args: string[]) {
  const child = spawn(main, ['--json', ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const nextLine = async <Line>(): Promise<Line> => JSON.parse((await lines.next()).value as string) as Line
  return { child, ready: await nextLine<Ready>(), nextLine }
}

test('it prints where everything is, and leaves nothing behind at Ctrl-C', async () => {
  const { child, ready, nextLine } = await start()
  const { ca, control, token, env } = ready
  expect(ready.console).toBe(`${control}/#token=${token}`)
  expect(env['NODE_EXTRA_CA_CERTS']).toBe(ca)
  expect(readFileSync(ca, 'utf8')).toMatch(/^-----BEGIN CERTIFICATE-----/)
  child.kill('SIGINT')
  expect(await nextLine()).toEqual({ verdict: { ok: true, findings: [] } })
  expect(await once(child, 'exit')).toEqual([0, null])
  expect(existsSync(dirname(ca))).toBe(false)
})

/** Sends signals until the process ends, and returns how it ended. */
async function killUntilEnd(child: ChildProcess): Promise<unknown> {
  const signals: NodeJS.Signals[] = ['SIGQUIT', 'SIGINT', 'SIGTERM', 'SIGHUP']
  const timer = setInterval(() => signals.forEach((signal) => child.kill(signal)), 1)
  try {
    return await once(child, 'exit')
  } finally {
    clearInterval(timer)
  }
}

test('a second signal ends it at once, and what it wrote is removed all the same', async () => {
  const temporary = join(folder, 'signals')
  mkdirSync(temporary)
  const child = spawn(main, ['--json', '--write-env', join(temporary, '.env')], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout.resume(), 'data')
  expect(readdirSync(temporary)).toHaveLength(2)
  const [status] = (await killUntilEnd(child)) as [number | null]
  // 0 if it was faster than the second one
  expect([0, 129, 130, 131, 143]).toContain(status)
  expect(readdirSync(temporary)).toEqual([])
})

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test.concurrent.for([
  ['SIGINT', 'ends by itself', ''],
  ['SIGTERM', 'ends by itself', ''],
  ['SIGHUP', 'ends by itself', ''],
  ['SIGQUIT', 'ends by itself', ''],
  ['SIGTERM', 'keeps signals', 'for (const name of ["SIGINT", "SIGTERM"]) process.on(name, () => {})'],
  ['SIGINT', 'keeps signals', 'for (const name of ["SIGINT", "SIGTERM"]) process.on(name, () => {})'],
] as const)(
  '%s to it alone leaves neither a command that %s nor what that has started',
  // that of the test: of concurrent ones, the function that is imported takes any
  async ([signal, , keep], context) => {
    const temporary = mkdtempSync(join(folder, 'left-'))
    const inner = `${keep}; console.log('PID ' + process.pid); setInterval(() => {}, 1_000)`
    const outer = `import { spawn } from 'node:child_process'; ${keep}
    spawn(process.execPath, ['-e', ${JSON.stringify(inner)}], { stdio: 'inherit' }); console.log('PID ' + process.pid); setInterval(() => {}, 1_000)`
    const child = spawn(main, ['--', ...program(outer)], {
      env: { ...process.env, TMPDIR: temporary },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    context.onTestFinished(() => void child.kill('SIGKILL'))
    const pids: number[] = []
    for await (const line of createInterface({ input: child.stdout })) {
      const [, pid] = /^PID (\d+)/.exec(line) ?? []
      if (pid !== undefined) pids.push(Number(pid))
      if (pids.length === 2) break
    }
    child.kill(signal)
    const ended = once(child, 'exit')
    // a second one, after which nothing waits for a command that keeps them
    const again = setTimeout(() => child.kill('SIGTERM'), 1_000)
    await ended
    clearTimeout(again)
    await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]))
    expect(readdirSync(temporary)).toEqual([])
  },
)

test('a container without a temporary folder gets the files in the current one, or is told what is missing', () => {
  const temporary = join(folder, 'no-such-folder')
  const child = (cwd: string) =>
    spawnSync(main, ['--', 'true'], { cwd, env: { ...process.env, TMPDIR: temporary }, encoding: 'utf8' })
  const working = join(folder, 'working')
  mkdirSync(working)
  const { status, stderr } = child(working)
  expect([status, stderr]).toEqual([0, expect.stringContaining('No temporary folder can be written to')])
  expect(readdirSync(working)).toEqual([])
  const refused = child('/proc')
  expect([refused.status, refused.stderr]).toEqual([2, expect.stringMatching(/^No folder for .*Set TMPDIR/)])
})

test('signals before the sandbox is ready keep its command from starting, and leave nothing behind', async () => {
  const temporary = join(folder, 'early')
  mkdirSync(temporary)
  const child = spawn(main, ['--', ...program('await new Promise(setInterval)')], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: 'ignore',
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await vi.waitFor(() => expect(readdirSync(temporary)).toHaveLength(1), { interval: 1 })
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([128 + constants.signals.SIGTERM, null])
  expect(readdirSync(temporary)).toEqual([])
})

test('a command trusts what the shell trusted before, and the sandbox', async () => {
  const { ca } = await makeCertificates()
  const file = join(folder, 'company.pem')
  // as people write such files
  writeFileSync(file, `# the proxy of the company\n${ca.trim()}`)
  const show = `
    import { getCACertificates } from 'node:tls'
    const trusted = getCACertificates('extra')
    const { status } = await fetch(process.env.API_URL)
    console.log(JSON.stringify({ trusted, status }))`
  const shown = (pem: string): { trusted: string[]; status: number } => {
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: pem }
    return JSON.parse(spawnSync(main, ['--', ...program(show)], { encoding: 'utf8', env }).stdout) as never
  }
  const { trusted, status } = shown(file)
  expect(trusted).toHaveLength(2)
  expect(trusted.map((each) => each.trim())).toContain(ca.trim())
  expect(status).toBe(401)
  expect(shown(join(folder, 'no-such.pem'))).toMatchObject({ trusted: { length: 1 }, status: 401 })
})

test('the variables have all that the documentation names, with the control that works', () => {
  const show = `
    const { CONTROL, TOKEN } = process.env
    const { status } = await fetch(CONTROL + '/v1/counts', { headers: { authorization: 'Bearer ' + TOKEN } })
    console.log(JSON.stringify({ status, names: Object.keys(process.env) }))`
  const { status, names } = JSON.parse(run('--', ...program(show)).stdout) as {
    status: number
    names: string[]
  }
  expect(status).toBe(200)
  for (const page of ['../../README.md', '../../../../docs/guide/test-your-app.md']) {
    const text = readFileSync(new URL(page, import.meta.url), 'utf8')
    const named = Array.from(text.matchAll(/\$([A-Z_]{3,})/g), ([, name]) => name)
    expect(named.length).toBeGreaterThan(1)
    expect(names).toEqual(expect.arrayContaining(named))
  }
})

test('its ports are those that are named, or it does not start', async () => {
  const first = await start('--port', '18430')
  expect(first.ready.control).toBe('http://127.0.0.1:18430')
  expect(first.ready.env['API_URL']).toBe('https://127.0.0.1:18433/')
  const { status, stdout, stderr } = run('--port', '18429', '--json')
  const problem =
    '--port 18429 needs ports 18429 to 18433, but 18430, 18431, 18432, 18433 cannot be used (in use or not allowed)'
  expect(status).toBe(2)
  expect(stderr).toBe(`${problem}\nSee tokenlane-sandbox --help\n`)
  expect(JSON.parse(stdout)).toEqual({ ok: false, error: problem })
})

test('for people it prints addresses, variables, a first request, and the verdict', async () => {
  const child = spawn(main, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part))
  while (!text.includes('curl')) await once(child.stdout, 'data')
  expect(text).toMatch(/^ {2}console {10}http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]+$/m)
  expect(text).toMatch(/^export GENERAL_CLIENT_SECRET=[\w-]{43}$/m)
  child.kill('SIGTERM')
  await once(child, 'close')
  expect(child.exitCode).toBe(0)
  expect(text).toMatch(/\nVerdict: no request arrived\.\n$/)
})

test('the first request that it prints, and that of the README, pass its own verdict', async () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
  const [, documented = ''] = /```sh\n(curl [^`]+)```/.exec(readme) ?? []
  const child = spawn(main, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part))
  while (!text.includes('Cause an outage')) await once(child.stdout, 'data')
  const variables = text.match(/^export .+$/gm)?.join('\n') ?? ''
  const [printed = ''] = /curl --[^]+?\n\n/.exec(text) ?? []
  for (const command of [printed, documented]) {
    const { stdout } = spawnSync('sh', ['-c', `${variables}\n${command}`], { encoding: 'utf8' })
    expect(JSON.parse(stdout)).toMatchObject({ token_type: expect.stringMatching(/bearer/i) as string })
  }
  child.kill('SIGTERM')
  await once(child, 'close')
  // two tokens of one client in a row are none of the command's business here
  expect(text).not.toContain('old-tls')
})

test('an example runs as it is, and ends in order at SIGTERM', async () => {
  const child = spawn(main, ['--', process.execPath, express], {
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string]
  const found = await fetch(new URL('/records/INV-0000001', url))
  expect(await found.json()).toMatchObject({ id: 'INV-0000001' })

  let said = ''
  child.stderr.setEncoding('utf8').on('data', (part: string) => (said += part))
  child.kill('SIGTERM')
  expect(await once(child, 'close')).toEqual([0, null])
  expect(said).toMatch(/\nVerdict: no problems found\.\n$/)
})

test.each([
  ['of the command', program('process.exit(3)'), 3],
  ['127 for a command that does not exist', ['no-such-command'], 127],
  ['2 without a command after --', [], 2],
])('the exit status is %s', (_, command, status) => {
  expect(run('--', ...command).status).toBe(status)
})

test('the verdict is the exit status if it is asked for, with the evidence on standard error', () => {
  expect(run('--', ...program(callWithoutToken)).status).toBe(0)
  const { status, stdout, stderr } = run('--verdict', '--', ...program(callWithoutToken))
  expect(status).toBe(1)
  expect(stdout).toBe('401\n')
  expect(run('--verdict', '--', ...program(`${callWithoutToken}; process.exit(5)`)).status).toBe(5)
  expect(stderr).toMatch(/^error missing-token: 1 call had no token\.$/m)
  expect(stderr).toMatch(/^ {4}1 {2}[\d:.]+ {2}general-api {2}GET \/records: no bearer token$/m)
})

test('a policy, a lifetime and a scenario reach the sandbox', async () => {
  const scenario = join(folder, 'scenario.json')
  writeFileSync(
    scenario,
    JSON.stringify({ steps: [{ after: 0, do: 'killIssuer', issuer: 'weblink', for: '20s' }] }),
  )
  const policy = ['--policy', 'weblink=25/1s,100/1m', '--policy', 'general=3/500ms']
  const { ready } = await start(...policy, '--lifetime', '60s', '--scenario', scenario)
  const headers = { authorization: `Bearer ${ready.token}` }
  const state = (await (await fetch(`${ready.control}/v1/state`, { headers })).json()) as never
  expect(state).toMatchObject({
    issuers: { general: { tokenLifetime: 60_000 } },
    apis: {
      general: { ratePolicy: { limits: [{ quota: 3, window: 500 }] } },
      weblink: {
        ratePolicy: {
          limits: [
            { quota: 25, window: 1_000 },
            { quota: 100, window: 60_000 },
          ],
        },
      },
    },
    scenario: { of: 1 },
  })
})

test('an environment file is there as long as the sandbox, and never replaces one', () => {
  const file = join(folder, '.env')
  const show = `import { readFileSync } from 'node:fs'; console.log(readFileSync(${JSON.stringify(file)}, 'utf8'))`
  expect(run('--write-env', file, '--', ...program(show)).stdout).toMatch(/^AUTH_URL=https:/)
  expect(existsSync(file)).toBe(false)
  writeFileSync(file, 'MINE=1\n')
  const { status, stderr } = run('--write-env', file, '--', ...program(show))
  expect(status).toBe(2)
  expect(stderr).toContain('Cannot write --write-env: EEXIST')
  expect(readFileSync(file, 'utf8')).toBe('MINE=1\n')
})

test('a shell that loads the environment file as the README says starts programs that reach the sandbox', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
  const [load = ''] = /set -a; \. \.\/file; set \+a/.exec(readme) ?? []
  const show = `${callWithoutToken}; console.log(process.env.GENERAL_PRIVATE_KEY)`
  const inFolder = `cd ${folder} && ${load} && exec "$0" --input-type=module --eval '${show}'`
  const options = ['--write-env', join(folder, 'file'), '--authentication', 'general=private_key_jwt']
  const { stdout } = run(...options, '--', 'env', '-i', 'sh', '-c', inFolder, process.execPath)
  expect(stdout).toMatch(/^401\n-----BEGIN PRIVATE KEY-----\\n.*-----END PRIVATE KEY-----\n$/)
})

test('it ends and leaves nothing behind when its output is closed', async () => {
  const temporary = join(folder, 'closed')
  mkdirSync(temporary)
  const child = spawn(main, ['--write-env', join(temporary, '.env')], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (part: string) => (said += part))
  child.stdout.destroy()
  expect(await once(child, 'close')).toEqual([0, null])
  expect(readdirSync(temporary)).toEqual([])
  expect(said).toBe('')
})

test('with --json standard output is two objects alone, and what the command prints goes to standard error', () => {
  const { stdout, stderr } = run('--json', '--', 'printf', 'no newline')
  const [ready, verdict, ...more] = stdout.split('\n')
  expect(JSON.parse(ready ?? '')).toHaveProperty('env')
  expect(stderr).toContain('no newline')
  expect(JSON.parse(verdict ?? '')).toEqual({ verdict: { ok: true, findings: [] } })
  expect(more).toEqual([''])
})

test('with --json, wrong options are an object too', () => {
  const { stdout } = run('--json', '--seed', '-1')
  expect(JSON.parse(stdout)).toEqual({
    ok: false,
    error: '--seed must be a whole number from 0 to 4294967295, not -1',
  })
  expect(run('--seed', '-1', '--', 'node', '--json').stdout).toBe('')
})

test('wrong options end it with status 2, all named at once', () => {
  const { status, stderr } = run('--lifetime', '5', '--seed', '-1')
  expect(status).toBe(2)
  expect(stderr).toBe(
    [
      '--lifetime must be a time such as 500ms, 20s, 5m or 1h, not 5',
      '--seed must be a whole number from 0 to 4294967295, not -1',
      'See tokenlane-sandbox --help\n',
    ].join('\n'),
  )
})

test('a scenario that is not there is refused', () => {
  const { status, stderr } = run('--scenario', 'no-such.json')
  expect(status).toBe(2)
  expect(stderr).toContain('Cannot read the scenario: ENOENT')
})

test('a scenario says what is wrong with it', () => {
  const file = join(folder, 'wrong.json')
  const steps = [
    { after: '5s', do: 'explode' },
    { after: '5s', do: 'failApi', api: 'other' },
  ]
  writeFileSync(file, JSON.stringify({ steps }))
  const { status, stderr } = run('--scenario', file)
  expect(status).toBe(2)
  expect(stderr).toMatch(/^steps\[0\]: "do" must be one of resetCounts, .*, not 'explode'$/m)
  expect(stderr).toMatch(/^steps\[1\]: "api" must be 'general' or 'weblink', not 'other'$/m)
})

test('a report is written at the end, over an old one, and one that cannot be written is refused at the start', () => {
  const report = join(folder, 'report.md')
  writeFileSync(report, 'the last run')
  expect(run('--report', report, '--', ...program(callWithoutToken)).status).toBe(0)
  expect(readFileSync(report, 'utf8')).toContain('## error: missing-token (1)')
  const refused = run('--report', folder, '--', ...program(callWithoutToken))
  expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining('Cannot write --report: ')])
})
