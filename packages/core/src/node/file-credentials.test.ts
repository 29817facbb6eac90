import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { inspect } from 'node:util'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { acceptOnly, fakeService, secretsOf } from '../../test/fake-issuer.ts'
import type { Credentials, CredentialsProvider } from '../index.ts'
import { fileAssertion, fileCredentials } from '../node.ts'

const now = Date.UTC(2026, 10, 21)
const hour = 3_600_000
const current = { clientId: 'client-1', clientSecret: 'secret-1' }
const next = { clientId: 'client-1', clientSecret: 'secret-2' }

let temp: string
let file: string
let folder: string
beforeEach(() => {
  vi.useFakeTimers({ now })
  temp = mkdtempSync(join(tmpdir(), 'file-credentials-'))
  file = join(temp, 'general.json')
  folder = join(temp, 'general')
})
afterEach(() => {
  vi.useRealTimers()
  rmSync(temp, { recursive: true, force: true })
})

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)

/** Replaces the file at once, as careful writers do. */
function put(content: unknown): void {
  writeFileSync(`${file}.new`, typeof content === 'string' ? content : JSON.stringify(content))
  renameSync(`${file}.new`, file)
}

/** A new version of the folder, as Kubernetes mounts a secret: `..data` is pointed at it in one step. */
function mount(fields: Record<string, string>): void {
  mkdirSync(folder, { recursive: true })
  const before = readdirSync(folder).filter((name) => name.startsWith('..version'))
  const version = `..version-${before.length + 1}`
  mkdirSync(join(folder, version))
  for (const [name, text] of Object.entries(fields)) {
    writeFileSync(join(folder, version, name), text)
    rmSync(join(folder, name), { force: true })
    symlinkSync(join('..data', name), join(folder, name))
  }
  symlinkSync(version, join(folder, '..data.new'))
  renameSync(join(folder, '..data.new'), join(folder, '..data'))
}

const read = (provider: CredentialsProvider): unknown =>
  provider({ reason: 'renewal', signal: new AbortController().signal })

/** What reading fails with, as `code message`. */
function failure(path: string): string {
  try {
    read(fileCredentials(path))
  } catch (error) {
    if (inspect(error, { depth: 12 }).includes('secret-1')) throw new Error('a secret', { cause: error })
    const { code, message } = error as { code: string; message: string }
    return `${code} ${message}`
  }
  return 'read'
}

test('a JSON file holds one client, or several in the order in which to try them', () => {
  put({ ...current, secretIssuedAt: '2026-11-01' })
  const provider = fileCredentials(file)
  const secretIssuedAt = new Date('2026-11-01T00:00:00Z')
  expect(read(provider)).toEqual([{ ...current, secretIssuedAt }])
  put([{ ...current, secretIssuedAt: '2026-11-01T00:00:00Z' }, next])
  expect(read(provider)).toEqual([{ ...current, secretIssuedAt }, next])
})

test('a byte order mark and a line break around the JSON do not matter', () => {
  put(`\uFEFF${JSON.stringify(current)}\r\n`)
  expect(read(fileCredentials(file))).toEqual([current])
})

test('a folder holds one file per field, and other files do not matter', () => {
  mount({ clientId: 'client-1\n', clientSecret: 'secret-1\r\n', 'ca.crt': 'x' })
  const provider = fileCredentials(folder)
  expect(read(provider)).toEqual([current])
  mount({ clientId: 'client-1', clientSecret: 'secret-1', clientSecretNext: 'secret-2\n' })
  expect(read(provider)).toEqual([current, next])
  mount({
    clientId: 'client-1',
    clientSecret: 'secret-2',
    clientSecretNext: '',
    secretIssuedAt: '2026-11-21\n',
  })
  expect(read(provider)).toEqual([{ ...next, secretIssuedAt: new Date(now) }])
})

test('a plain folder will do, also behind a symbolic link', () => {
  mkdirSync(folder)
  writeFileSync(join(folder, 'clientId'), 'client-1')
  writeFileSync(join(folder, 'clientSecret'), 'secret-1')
  symlinkSync(folder, join(temp, 'link'))
  expect(read(fileCredentials(folder))).toEqual([current])
  expect(read(fileCredentials(join(temp, 'link')))).toEqual([current])
})

test('a relative path starts at the working directory of the moment it is given', () => {
  put(current)
  const provider = fileCredentials(relative(process.cwd(), file))
  const cwd = vi.spyOn(process, 'cwd').mockReturnValue('/')
  expect(read(provider)).toEqual([current])
  cwd.mockRestore()
})

test.each<[string, unknown]>([
  ['missing', undefined],
  ['empty', ''],
  ['an object', new URL('file:///run/secrets')],
])('a path that is %s is refused at once', (what, path) => {
  const create = (): unknown => fileCredentials(path as string)
  expect(create).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }))
  expect(create).toThrow(`\`path\` is ${what}`)
})

test.each<[string, unknown, string]>([
  ['nothing at all', '', 'is empty'],
  ['a half-written file', '{"clientId":"client-1","clientSecret":"secret-1', 'is not JSON'],
  ['text', 'secret-1', 'is not JSON'],
  ['no object', '"secret-1"', 'is a string, not an object'],
  ['an empty array', [], 'is an empty array'],
  ['no client id', { clientSecret: 'secret-1' }, '`clientId` is missing'],
  ['no secret', { clientId: 'client-1' }, '`clientSecret` is missing'],
  ['an empty secret in a list', [current, { ...next, clientSecret: '' }], '`[1].clientSecret` is empty'],
  [
    'white space around a secret',
    { ...current, clientSecret: 'secret-1\n' },
    '`clientSecret` is a string with white',
  ],
  ['a secret without quotes', { ...current, clientSecret: 8_412_345_678 }, '`clientSecret` is a number'],
  ['a secret that is not text', { ...current, clientSecret: ['secret-1'] }, '`clientSecret` is an array'],
  [
    'another spelling',
    { client_id: 'a', client_secret: 'secret-1' },
    'than clientId, clientSecret, secretIssuedAt',
  ],
  ['a wrong date', { ...current, secretIssuedAt: '1 Nov 2026' }, '`secretIssuedAt` is not an ISO 8601 date'],
  [
    'a date that is a number',
    { ...current, secretIssuedAt: now },
    '`secretIssuedAt` is not an ISO 8601 date',
  ],
])('%s in a JSON file is named with its path, and not quoted', (_what, content, reason) => {
  put(content)
  expect(failure(file)).toMatch(/^CREDENTIALS_UNAVAILABLE Cannot read credentials: the file /)
  expect(failure(file)).toContain(file)
  expect(failure(file)).toContain(reason)
})

test.each<[string, Record<string, string>, string, string]>([
  ['nothing', {}, 'clientId', 'is missing'],
  ['another spelling', { client_id: 'client-1', client_secret: 'secret-1' }, 'clientId', 'is missing'],
  ['no secret', { clientId: 'client-1' }, 'clientSecret', 'is missing'],
  ['an empty secret', { clientId: 'client-1', clientSecret: '\n' }, 'clientSecret', 'is empty'],
  ['a wrong date', { ...current, secretIssuedAt: 'secret-1' }, 'secretIssuedAt', 'is not an ISO 8601 date'],
])('%s in a folder is named with its path, and not quoted', (_what, fields, name, fault) => {
  mount(fields)
  expect(failure(folder)).toMatch(/^CREDENTIALS_UNAVAILABLE /)
  expect(failure(folder)).toContain(`the file ${join(folder, name)} ${fault}`)
})

test('what is not a file where a field should be is reported by the code of the file system', () => {
  mkdirSync(join(folder, 'clientId'), { recursive: true })
  expect(failure(folder)).toContain(`the file ${join(folder, 'clientId')} cannot be read (EISDIR)`)
})

test('what is missing or wrong at start-up is refused by createTokenManager', () => {
  const create = (): unknown => fakeService({ credentials: fileCredentials(file) })
  expect(create).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }))
  expect(create).toThrow(`the file ${file} is missing`)
  put('{')
  expect(create).toThrow(`the file ${file} is not JSON`)
  put(current)
  expect(create).not.toThrow()
})

test('a file that comes later can be waited for by a provider without a check', async () => {
  const whenItIsThere = fileCredentials(file)
  const { tokens } = fakeService({ credentials: (context) => whenItIsThere(context) })
  const token = tokens.getToken('general')
  await pass(1_000)
  put(current)
  await pass(2_000)
  await expect(token).resolves.toMatchObject({ value: 'token-1' })
})

test('a file that is gone is reported by issuer, path and code, and the old token serves to its end', async () => {
  put(current)
  const { tokens, issuer, eventsOf } = fakeService({ credentials: fileCredentials(file), maxWait: 1 })
  await tokens.warmUp()
  rmSync(file)
  await pass(hour - 60_000)
  await expect(tokens.getToken('general')).resolves.toMatchObject({ value: 'token-1' })
  await pass(0)
  expect(eventsOf('renewal.failed')).toMatchObject([
    { code: 'CREDENTIALS_UNAVAILABLE', tokenStillValid: true },
  ])
  await pass(60_000)
  await expect(tokens.getToken('general')).rejects.toMatchObject({
    code: 'CREDENTIALS_UNAVAILABLE',
    issuer: 'general',
    message: expect.stringContaining(
      `Cannot obtain token: no credentials for issuer "general": Cannot read credentials: the file ${file} is missing; `,
    ) as string,
  })
  expect(issuer.count).toBe(1)
})

test('a half-written file loses no call: it is read again until it is whole', async () => {
  put(current)
  const { tokens } = fakeService({ credentials: fileCredentials(file) })
  writeFileSync(file, '{"clientId":"client-1","clientSe')
  const token = tokens.getToken('general')
  await pass(1_000)
  writeFileSync(file, JSON.stringify(current))
  await pass(2_000)
  await expect(token).resolves.toMatchObject({ value: 'token-1' })
})

test('a rotation with overlap costs no refused request, and no restart', async () => {
  put(current)
  const { tokens, issuer, eventsOf } = fakeService({ credentials: fileCredentials(file) })
  await tokens.warmUp()
  put(next)
  await pass(hour)
  await tokens.getToken('general')
  expect(secretsOf(issuer)).toEqual(['secret-1', 'secret-2'])
  expect(eventsOf('credentials.rotated')).toMatchObject([{ clientId: 'client-1' }])
})

test('of two secrets in a file the next one takes over without a change of the file', async () => {
  put([current, next])
  const { tokens, issuer } = fakeService({ credentials: fileCredentials(file) })
  await tokens.warmUp()
  acceptOnly(issuer, 'secret-2')
  await pass(hour)
  await tokens.getToken('general')
  expect(secretsOf(issuer)).toEqual(['secret-1', 'secret-1', 'secret-2'])
})

test('without overlap, calls fail fast until the file has the new secret, and not a moment longer', async () => {
  put(current)
  const { tokens, issuer } = fakeService({ credentials: fileCredentials(file) })
  await tokens.warmUp()
  acceptOnly(issuer, 'secret-2')
  await pass(hour)
  for (let call = 0; call < 100; call += 1)
    await expect(tokens.getToken('general')).rejects.toMatchObject({ code: 'TOKEN_REQUEST_REFUSED' })
  expect(issuer.count).toBe(2)
  put(next)
  await expect(tokens.getToken('general')).resolves.toMatchObject({ value: 'token-2' })
  expect(secretsOf(issuer)).toEqual(['secret-1', 'secret-1', 'secret-2'])
})

test('a secret that is written while the issuer refuses the old one is used in the same flight', async () => {
  put(current)
  const { tokens, issuer } = fakeService({ credentials: fileCredentials(file) })
  acceptOnly(issuer, 'secret-2')
  issuer.respondOnceWith(() => {
    put(next)
    return Response.json({ error: 'invalid_client' }, { status: 401 })
  })
  await expect(tokens.getToken('general')).resolves.toMatchObject({ value: 'token-1' })
  expect(secretsOf(issuer)).toEqual(['secret-1', 'secret-2'])
})

// another thread swaps, and on a busy machine it takes its time
test('a folder that is swapped all the while gives the fields of one version each time', async () => {
  mkdirSync(folder)
  const swaps = new Int32Array(new SharedArrayBuffer(4))
  const swapping = new Worker(swapForEver, { eval: true, workerData: { folder, swaps } })
  const torn: unknown[] = []
  try {
    await once(swapping, 'message')
    const provider = fileCredentials(folder)
    for (const last = Atomics.load(swaps, 0) + 200; Atomics.load(swaps, 0) < last;) {
      const given = read(provider) as Credentials[]
      const texts = given.flatMap(({ clientId, clientSecret }) => [clientId, clientSecret])
      if (texts.length !== 4 || new Set(texts).size !== 1) torn.push(given)
    }
  } finally {
    await swapping.terminate()
  }
  expect(torn).toEqual([])
})

// as Kubernetes does: a new version beside the old one, one rename, and the old one is removed
const swapForEver = `
  const { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } = require('node:fs')
  const { join } = require('node:path')
  const { parentPort, workerData } = require('node:worker_threads')
  const { folder, swaps } = workerData
  for (let turn = 1; ; turn += 1) {
    const version = '..version-' + turn
    mkdirSync(join(folder, version))
    for (const name of ['clientId', 'clientSecret', 'clientSecretNext'])
      writeFileSync(join(folder, version, name), version)
    symlinkSync(version, join(folder, '..data.new'))
    renameSync(join(folder, '..data.new'), join(folder, '..data'))
    rmSync(join(folder, '..version-' + (turn - 1)), { recursive: true, force: true })
    Atomics.add(swaps, 0, 1)
    if (turn === 1) parentPort.postMessage('swapping')
  }
`

test('a pipe or a device holds nothing up, in the place of a file, of a field or of an assertion', () => {
  mkdirSync(folder)
  const field = join(folder, 'clientId')
  for (const path of [file, field]) execFileSync('mkfifo', [path])
  expect(failure(file)).toContain(`${file} is a pipe or a device, not a file`)
  expect(failure(folder)).toContain(`${field} is a pipe or a device, not a file`)
  const context = { audience: 'https://auth.example.com', signal: new AbortController().signal }
  for (const path of [file, '/dev/zero'])
    expect(() => fileAssertion(path)(context)).toThrow(`${path} is a pipe or a device, not a file`)
})
