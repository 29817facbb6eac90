// Long: each scene takes seconds, in a process of its own.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'

import { rules } from '../../sandbox/src/verdict/verdict.ts'
import type { Exam } from '../src/judge/exam.ts'
import { scenes } from '../src/judge/scenes.ts'
import { main, tokenlane, type Ended } from './support/run.ts'

// a busy machine plays slowly

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url))
const planted = pathOf('applications/planted.ts')
const samples = pathOf('judged/')
const folder = mkdtempSync(join(tmpdir(), 'judge-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function judge(
  names: readonly string[],
  command: readonly string[],
  ...options: readonly string[]
): Promise<Ended> {
  const chosen = names.flatMap((name) => ['--scene', name])
  return tokenlane(['judge', ...chosen, ...options, '--', ...command], {}, samples)
}

async function examOf(names: readonly string[], command: readonly string[]): Promise<Exam> {
  const { stdout, stderr } = await judge(names, command, '--json')
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout) as Exam
}

const found = ({ scenes: reports }: Exam): string[] =>
  reports.flatMap(({ name, notGraded, findings }) => [
    ...(notGraded === undefined ? [] : [`${name}: ${notGraded}`]),
    ...findings.map(({ rule }) => rule),
  ])

const namesOf = (those: readonly { readonly name: string }[]): string[] => those.map(({ name }) => name)
test.concurrent('Tokenlane breaks no rule in any scene', async () => {
  const exam = await examOf([], ['node', 'client.ts'])
  expect(found(exam)).toEqual([])
  expect(exam).toMatchObject({ ok: true, grade: 'A', seed: 1 })
  expect(namesOf(exam.scenes)).toEqual(namesOf(scenes))
})

test.concurrent('a proxy of the network, which cannot reach this machine, is not in the way of a program', async () => {
  const proxy = 'http://127.0.0.1:9'
  const env = { HTTPS_PROXY: proxy, https_proxy: proxy, NODE_USE_ENV_PROXY: '1' }
  const args = ['judge', '--scene', 'cold-start', '--json', '--', 'node', 'client.ts']
  const { stdout } = await tokenlane(args, env, samples)
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, grade: 'A' })
})

test.concurrent('the set-up of the README, which reads no file, gets its grade by what it can do', async () => {
  const { status, stdout } = await judge([], ['node', 'as-in-readme.ts'])
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
    'not graded: the program takes the secret from its environment, which nothing can rotate',
  )
  expect(stdout).toContain('Grade A: no problems found, 11 scenes, 3 not graded, seed 1.')
  expect(status).toBe(0)
})

test.concurrent('a program that reads its file once can read it, and fails where it is rotated', async () => {
  const names = ['rotation-overlap', 'rotation']
  expect(found(await examOf(names, ['node', planted, 'no-recovery']))).toEqual(
    expect.arrayContaining(['no-recovery', 'no-recovery']),
  )
  const exam = await examOf(names, ['node', planted, 'no-file'])
  expect(exam.scenes.map(({ notGraded }) => notGraded)).toEqual([
    expect.stringContaining('from its environment'),
    expect.stringContaining('from its environment'),
  ])
})

/** For each rule a scene in which it can be broken. */
const sceneOf: Readonly<Record<string, string>> = {
  stampede: 'cold-start',
  'needless-renewal': 'revocation',
  'hammered-issuer': 'refused-client',
  'rejected-token': 'revocation',
  'endless-401': 'refused-token',
  'ignored-retry-after': 'retry-after',
  'client-authentication': 'cold-start',
  'content-type': 'cold-start',
  'token-request': 'cold-start',
  'expired-token': 'expiry',
  'foreign-token': 'revocation',
  'missing-token': 'cold-start',
  'token-outside': 'redirect',
  'token-in-url': 'cold-start',
  'secret-in-url': 'cold-start',
  'over-limit': 'rate-limit',
  'old-tls': 'cold-start',
  'work-lost': 'revocation',
  'no-keep-alive': 'cold-start',
  'given-up': 'issuer-down',
  'no-recovery': 'rotation',
  'both-stopped': 'two-issuers',
}

describe('a client with one mistake', () => {
  test('is there for each rule but those of assertions and of missing metadata', () => {
    const unseen = new Set([
      'expired-assertion',
      'foreign-assertion',
      'replayed-assertion',
      'stale-assertion',
      'no-metadata',
    ])
    const names = rules.map(({ name }) => name).filter((name) => !unseen.has(name))
    expect(Object.keys(sceneOf)).toEqual(expect.arrayContaining(names))
  })

  test.concurrent('is clean without it', async () => {
    const names = new Set(Object.values(sceneOf))
    expect(found(await examOf([...names], ['node', planted]))).toEqual([])
  })

  test.concurrent.for(Object.entries(sceneOf))('%s is found', async ([rule, scene]) => {
    const exam = await examOf([scene], ['node', planted, rule])
    expect(found(exam)).toContain(rule)
    const finding = exam.scenes[0]?.findings.find((each) => each.rule === rule)
    expect(finding?.fix).toMatch(/\.$/)
    // what did not arrive is no evidence
    expect(finding?.evidence.length === 0).toBe(rule === 'both-stopped')
  })
})

test.concurrent.for([
  ['curl in a shell', 'sh', 'client.sh'],
  ['Python', 'python3', 'client.py'],
] as const)('the sample for %s makes enough calls to be graded', async ([, interpreter, file]) => {
  const exam = await examOf(['revocation', 'rotation', 'issuer-down'], [interpreter, file])
  expect(exam.scenes.map(({ notGraded }) => notGraded)).toEqual([undefined, undefined, undefined])
  expect(
    exam.scenes.flatMap(({ findings }) => findings).filter(({ severity }) => severity === 'error'),
  ).toEqual([])
})

test.concurrent('one caller cannot show a cold start, and a client of one API not two issuers', async () => {
  const { status, stdout } = await judge(['cold-start', 'two-issuers'], ['sh', 'client.sh'])
  expect(stdout).toContain('not graded: at most 1 of 10 calls were under way at once')
  expect(stdout).toContain('not graded: only one of the two APIs was called')
  expect(stdout).toContain('No grade: no scene could be graded.')
  expect(status).toBe(1)
})

test.concurrent('a program that is slow to its first 20 requests is waited for', async () => {
  const slow = ['sh', '-c', "sed 's/sleep 0.02/sleep 0.7/' client.sh | sh"]
  const { scenes: reports } = await examOf(['revocation'], slow)
  expect(reports[0]?.notGraded).toBe(undefined)
})

test.concurrent('a program that exits early is not graded, and its last words are shown', async () => {
  const script = 'curl -s --cacert $SSL_CERT_FILE $GENERAL_TOKEN_URL >&2; echo; echo goodbye; exit 7'
  const { stdout } = await judge(['revocation'], ['sh', '-c', script])
  expect(stdout).toContain('not graded: the program exited early (with status 7), after 1 request')
  expect(stdout).toContain('      goodbye')
})

test.concurrent('the status is 3 if the program made no calls, and no further scene is played', async () => {
  const { status, stderr } = await judge([], ['sh', '-c', 'exit 0'])
  expect(status).toBe(3)
  expect(stderr).toBe('cold-start: not graded, the program exited early (with status 0), after 0 requests\n')
})

test.concurrent('what a shell has started ends with it', async () => {
  const { stdout: pids } = await judge(['revocation'], ['sh', '-c', 'sleep 1000 & echo pid $!; exit 1'])
  const pid = Number(/pid (\d+)/.exec(pids)?.[1])
  expect(pid).toBeGreaterThan(1)
  // the system needs a moment to bury it
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'))
})

test.concurrent('the page has a grade, findings in words, evidence and fix; the files have them too', async () => {
  const [junit, sarif] = [join(folder, 'judge.xml'), join(folder, 'judge.sarif')]
  const { status, stdout } = await judge(
    ['revocation', 'redirect'],
    ['node', planted, 'rejected-token'],
    '--junit',
    junit,
    '--sarif',
    sarif,
  )
  expect(status).toBe(1)
  expect(stdout).toContain('Grade D: errors in 1 of 2 scenes, seed 1.')
  const words = stdout.replaceAll(/\s+/g, ' ')
  expect(words).toMatch(/error rejected-token: [\d,]+ calls? sent a token that the API had already refused\./)
  expect(words).toContain('fix: Drop a token that an API refuses with 401, get a new one')
  expect(stdout).toMatch(/\n {8}\d+ {2}[\d:.]+ {2}general-api {2}GET \/records\/INV-\d{7}: revoked/)
  expect(readFileSync(junit, 'utf8')).toContain('<failure message="rejected-token: ')
  const { runs } = JSON.parse(readFileSync(sarif, 'utf8')) as { runs: { results: { ruleId: string }[] }[] }
  expect(runs[0]?.results.map(({ ruleId }) => ruleId)).toContain('rejected-token')
})

describe('invalid usage has status 2', () => {
  test.concurrent.for([
    [['--scene', 'revokation', '--', 'true'], 'No scene is called revokation (did you mean `revocation`?)'],
    [[], "missing required argument 'command'"],
    [['--', '/no/such/program'], 'Cannot start /no/such/program: ENOENT'],
    [['--seed', '-1', '--', 'true'], 'It must be a whole number from 0 to 4294967295.'],
    [['--junit', '/no/such/folder/x', '--', 'true'], 'Cannot write /no/such/folder/x: ENOENT'],
    [['--authentication', 'none', '--', 'true'], 'client_secret_post, client_secret_basic'],
  ] as const)('%j', async ([args, message]) => {
    const { status, stderr } = await tokenlane(['judge', ...args], {})
    expect(stderr).toContain(message)
    expect(status).toBe(2)
  })
})

test('each scene is in the help', async () => {
  const { stdout } = await tokenlane(['judge', '--help'], {})
  const unbroken = stdout.replaceAll(/\s+/g, ' ')
  for (const { name, title } of scenes) expect(unbroken).toContain(` ${name} ${title} `)
})

test.concurrent('no secret is in the page, and no file is left behind', async () => {
  const copy = join(folder, 'copy')
  writeFileSync(copy, '')
  const script = `echo "$GENERAL_CLIENT_SECRET $GENERAL_CREDENTIALS_FILE" > ${copy}; exec node ${planted} secret-in-url`
  const { stdout, stderr } = await judge(['cold-start'], ['sh', '-c', script])
  const [secret = '', file = ''] = readFileSync(copy, 'utf8').trim().split(' ')
  expect(secret.length).toBeGreaterThan(20)
  expect(stdout).toContain('secret-in-url')
  expect(stdout + stderr).not.toContain(secret)
  expect(() => readFileSync(file)).toThrow('ENOENT')
})

test.for(['SIGINT', 'SIGTERM', 'SIGQUIT'] as const)(
  'a scene that %s ends leaves no file behind',
  async (signal) => {
    const temporary = join(folder, signal)
    mkdirSync(temporary)
    const args = ['judge', '--scene', 'revocation', '--', 'node', 'client.ts']
    const child = spawn(process.execPath, ['--', main, ...args], {
      cwd: samples,
      env: { ...process.env, TMPDIR: temporary },
      stdio: 'ignore',
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    await vi.waitFor(() => expect(readdirSync(temporary).join()).toContain('tokenlane-judge-'))
    child.kill(signal)
    await once(child, 'exit')
    expect(readdirSync(temporary)).toEqual([])
  },
)
