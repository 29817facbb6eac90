import { execFileSync } from 'node:child_process'
import fs from 'node:fs/promises'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { FakeIssuer, fakeService, type FakeService } from '../../test/fake-issuer.ts'
import { createTokenManager, oauthIssuer, type TokenManager } from '../index.ts'
import type { TokenStore } from '../fleet.ts'
import { fileTokenStore } from '../node.ts'

const many = process.env['TESTS'] === 'all'
let folder: string
let issuer: FakeIssuer
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'file-token-store-'))
  issuer = new FakeIssuer()
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true, force: true })
})

const clientNamed = (clientId: string) => ({ clientId, clientSecret: `secret of ${clientId}` })

/** A process that keeps its tokens in the folder, as one run of a command does. */
function run(clientId = 'client-1', place = folder): FakeService {
  return fakeService(
    { credentials: clientNamed(clientId) },
    { store: fileTokenStore(place), fetch: issuer.fetch },
  )
}

const tokenOf = async (service: FakeService): Promise<string> => {
  const { value } = await service.tokens.getToken('general')
  await service.tokens.close()
  return value
}

/** The files that have an entry, by path. */
const entryFiles = (place = folder): string[] =>
  readdirSync(place, { recursive: true, encoding: 'utf8' })
    .map((name) => join(place, name))
    .filter((path) => statSync(path).isFile())

test('five runs of a command make one token request', async () => {
  for (let index = 0; index < 5; index += 1) expect(await tokenOf(run())).toBe('token-1')
  expect(issuer.count).toBe(1)
})

test.each<[string, (path: string) => unknown]>([
  ['a folder', (path) => mkdirSync(path)],
  ['a pipe, which nobody writes to', (path) => execFileSync('mkfifo', [path])],
  ['a link that leads nowhere', (path) => symlinkSync('nowhere', path)],
])('%s in the place of an entry is no token, and holds nothing up', async (_what, make) => {
  await tokenOf(run())
  const [entry = ''] = entryFiles()
  make(join(dirname(entry), '9'))
  expect(await tokenOf(run())).not.toBe('')
  expect(await tokenOf(run())).toBe(`token-${issuer.count}`)
  expect(issuer.count).toBeLessThanOrEqual(2)
})

test('of processes that start together, one requests the token', async () => {
  const values = await Promise.all(Array.from({ length: 20 }, () => tokenOf(run())))
  expect(new Set(values)).toEqual(new Set(['token-1']))
  expect(issuer.count).toBe(1)
})

test('files have mode 0600, and show neither token nor secret nor client', async () => {
  await tokenOf(run())
  const files = entryFiles()
  expect(files).toHaveLength(1)
  for (const file of files) {
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700)
    expect(file + readFileSync(file, 'utf8')).not.toMatch(/token-1|secret|client-1/)
  }
})

test('a token that was refused is dropped on disk, too', async () => {
  const { tokens } = run()
  await tokens.getToken('general')
  const send = async (authorization: string) => ({
    status: authorization.endsWith('token-1') ? 401 : 200,
    result: authorization,
    discard() {},
  })
  const [api] = tokens.status().apis
  expect(await tokens.route(`${api?.baseUrl}x`)?.send(send)).toBe('Bearer token-2')
  await tokens.close()
  expect(await tokenOf(run())).toBe('token-2')
})

describe('a file that is damaged', () => {
  const damages: Record<string, (content: Buffer, where: number) => Buffer> = {
    'ends too early': (content, where) => content.subarray(0, where),
    'has another byte': (content, where) => {
      const changed = Buffer.from(content)
      changed[where] = (changed[where] ?? 0) ^ 1
      return changed
    },
    'has been written to twice': (content, where) => Buffer.concat([content, content.subarray(0, where + 1)]),
    'is full of zeros after a power cut': (content) => Buffer.alloc(content.length),
    'is not ours': () => Buffer.from('# notes\n'),
    'is huge': () => Buffer.alloc(2_000_000, '1'),
  }
  test.each(Object.keys(damages))('never gives a wrong token if it %s', async (kind) => {
    await tokenOf(run())
    const [path = ''] = entryFiles()
    const content = readFileSync(path)
    await fc.assert(
      fc.asyncProperty(fc.nat(content.length - 1), async (where) => {
        const damaged = damages[kind]?.(content, where) ?? content
        rmSync(folder, { recursive: true, force: true })
        await fs.mkdir(dirname(path), { recursive: true })
        writeFileSync(path, damaged)
        await fs.utimes(path, 0, 0)
        const before = issuer.count
        const service = run()
        const value = await tokenOf(service)
        // or damaged where it does not matter, such as in the time
        expect([issuer.count, value]).toEqual(
          issuer.count === before ? [before, 'token-1'] : [before + 1, `token-${before + 1}`],
        )
        expect(await tokenOf(run())).toBe(value)
      }),
      { numRuns: many ? 40 : 10 },
    )
  })

  test('is said once, and replaced', async () => {
    await tokenOf(run())
    const [path = ''] = entryFiles()
    writeFileSync(path, 'a note')
    await fs.utimes(path, 0, 0)
    const service = run()
    expect(await tokenOf(service)).toBe('token-2')
    expect(service.eventsOf('store.failed')).toEqual([{ type: 'store.failed', reason: 'unreadable' }])
    const next = run()
    expect(await tokenOf(next)).toBe('token-2')
    expect(next.eventsOf('store.failed')).toEqual([])
  })
})

test('an entry that was copied by hand to another client is not used, and said', async () => {
  await tokenOf(run('client-1'))
  await tokenOf(run('client-2'))
  const [one = '', two = ''] = readdirSync(folder).map((name) => join(folder, name))
  const whose = readFileSync(join(one, '1'), 'utf8')
  cpSync(one, two, { recursive: true })
  expect(readFileSync(join(two, '1'), 'utf8')).toBe(whose)
  const services = [run('client-1'), run('client-2')]
  const values = []
  for (const service of services) values.push(await tokenOf(service))
  expect(values.filter((value) => value === 'token-3')).toHaveLength(1)
  expect(new Set(values).size).toBe(2)
  expect(services.flatMap((service) => service.eventsOf('store.failed'))).toMatchObject([
    { reason: 'unreadable' },
  ])
})

test('a token from a copy of the folder is not used after it has expired', async () => {
  vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  await tokenOf(run())
  const copy = `${folder}-copy`
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }))
  cpSync(folder, copy, { recursive: true })
  for (const path of entryFiles(copy)) {
    const held = JSON.parse(readFileSync(path, 'utf8')) as object
    writeFileSync(path, JSON.stringify({ ...held, until: Date.now() + 1e12 }))
  }
  vi.setSystemTime(Date.now() + 3_600_000)
  expect(await tokenOf(run('client-1', copy))).toBe('token-2')
})

test('a folder that cannot be used costs a token request for each process, and is said', async () => {
  const place = join(folder, 'a file', 'below')
  writeFileSync(join(folder, 'a file'), '')
  const service = run('client-1', place)
  expect(await tokenOf(service)).toBe('token-1')
  expect(service.eventsOf('store.failed')).toEqual([{ type: 'store.failed', reason: 'ENOTDIR' }])
})

// Node's own `recursive` tries this for ever, in a thread that keeps the process alive
test.runIf(process.platform === 'linux')('a folder that no one can create is said, too', async () => {
  const service = run('client-1', '/proc/tokenlane/tokens')
  expect(await tokenOf(service)).toBe('token-1')
  expect(service.eventsOf('store.failed')).toEqual([{ type: 'store.failed', reason: 'ENOENT' }])
})

test('a clock that was set back leaves no lock for ever', async () => {
  const claim = (): Promise<unknown> => fileTokenStore(folder).claim('name', undefined, 5_000)
  vi.useFakeTimers({ now: Date.now() + 86_400_000, toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  expect(await claim()).toHaveProperty('fence')
  vi.setSystemTime(Date.now() - 86_400_000)
  expect(await claim()).toHaveProperty('fence')
  expect(await claim()).toBe('locked')
})

describe('a process that is killed', () => {
  class Killed extends Error {}

  /** Lets a process live for so many steps in the file system; the last of them is done by a part. */
  function killAfter(steps: number, part: number): void {
    let left = steps
    const isLast = (): boolean => {
      if (left <= 0) throw new Killed()
      left -= 1
      return left === 0
    }
    for (const step of ['readdir', 'stat', 'readFile', 'mkdir', 'rename', 'rm'] as const) {
      const original = fs[step].bind(fs) as (...given: unknown[]) => Promise<never>
      vi.spyOn(fs, step).mockImplementation(async (...given: unknown[]) => {
        const last = isLast()
        if (last && part < 0.5) throw new Killed()
        const result = await original(...given)
        if (last) throw new Killed()
        return result
      })
    }
    const open = fs.open.bind(fs)
    vi.spyOn(fs, 'open').mockImplementation(async (...given) => {
      const last = isLast()
      if (last && part < 0.5) throw new Killed()
      const file = await open(...given)
      const writeFile = file.writeFile.bind(file)
      file.writeFile = async (text) => {
        const isKilled = last || isLast()
        if (!isKilled) return writeFile(text)
        await writeFile((text as string).slice(0, Math.floor(part * (text as string).length)))
        throw new Killed()
      }
      return file
    })
  }

  async function fenceAfter(store: TokenStore, stale: string | undefined): Promise<string> {
    return ((await store.claim('name', stale, 5_000)) as { readonly fence: string }).fence
  }

  test('at any step and any byte leaves no wrong token, and no lock that outlives its lease', async () => {
    vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 45 }),
        fc.float({ min: 0, max: 1, noNaN: true }),
        async (steps, part) => {
          rmSync(folder, { recursive: true, force: true })
          const written = new Set<string>()
          killAfter(steps, part)
          const store = fileTokenStore(folder)
          try {
            for (const entry of ['one', 'two', 'three']) {
              const last = [...written].at(-1)
              const claim = await store.claim('name', last, 5_000)
              const { fence = '' } = claim as { readonly fence?: string }
              written.add(entry)
              await store.write('name', fence, entry, 60_000)
              await store.drop('name', 'two')
            }
          } catch (error) {
            if (!(error instanceof Killed)) throw error
          }
          vi.restoreAllMocks()
          vi.setSystemTime(Date.now() + 5_001)
          const next = fileTokenStore(folder)
          const found = await next.claim('name', undefined, 5_000)
          const { entry, fence } = Object(found) as { readonly entry?: string; readonly fence?: string }
          expect([...written, '', undefined]).toContain(entry)
          expect(found).not.toBe('locked')
          const right = fence ?? (await fenceAfter(next, entry))
          await next.write('name', right, 'of the next', 60_000)
          expect(await next.claim('name', undefined, 5_000)).toMatchObject({ entry: 'of the next' })
          expect(entryFiles()).toHaveLength(1)
        },
      ),
      { numRuns: many ? 300 : 75 },
    )
  })
})

test('a file that a virus scanner holds is tried again on Windows', async () => {
  vi.spyOn(process, 'platform', 'get').mockReturnValue('win32')
  const busy = Object.assign(new Error(), { code: 'EPERM' })
  const rename = vi.spyOn(fs, 'rename').mockRejectedValueOnce(busy).mockRejectedValueOnce(busy)
  const service = run()
  expect(await tokenOf(service)).toBe('token-1')
  expect(rename).toHaveBeenCalledTimes(3)
  expect(await tokenOf(run())).toBe('token-1')
  expect(service.eventsOf('store.failed')).toEqual([])
})

test('a full disk leaves no half-written file behind', async () => {
  const full = Object.assign(new Error(), { code: 'ENOSPC' })
  const open = fs.open.bind(fs)
  vi.spyOn(fs, 'open').mockImplementation(async (...given) => {
    const file = await open(...given)
    file.writeFile = async () => {
      throw full
    }
    return file
  })
  const service = run()
  expect(await tokenOf(service)).toBe('token-1')
  expect(service.eventsOf('store.failed')).toMatchObject([{ reason: 'ENOSPC' }])
  expect(entryFiles()).toEqual([])
})

test('nothing is created before a token is needed', () => {
  const place = join(folder, 'later')
  run('client-1', place)
  expect(existsSync(place)).toBe(false)
})

test.each([
  [[undefined], 'folder'],
  [[''], 'folder'],
  [[7], 'folder'],
  [['folder', 'a string'], 'options'],
  [['folder', { keys: 'a' }], 'keys'],
  [['folder', { key: 'too short' }], 'key'],
])('%j is refused, naming `%s`', (given, named) => {
  expect(() => (fileTokenStore as (...given: unknown[]) => unknown)(...given)).toThrow(
    expect.objectContaining({
      code: 'INVALID_OPTIONS',
      message: expect.stringContaining(`\`${named}\``) as string,
    }),
  )
})

test('a file in the place of the folder is refused', () => {
  writeFileSync(join(folder, 'a file'), '')
  expect(() => fileTokenStore(join(folder, 'a file'))).toThrow(
    /`folder` is the path of a file; allowed: the path of a/,
  )
})

test('the tokens of a client with an assertion are sealed with the key of the store', async () => {
  const part = (content: object): string => Buffer.from(JSON.stringify(content)).toString('base64url')
  const assertion = `${part({ alg: 'RS256' })}.${part({ exp: Date.now() / 1_000 + 600 })}.c2ln`
  const create = (options: object): TokenManager =>
    createTokenManager({
      issuers: {
        general: oauthIssuer({
          tokenEndpoint: 'https://auth.example.com/token',
          credentials: { clientId: 'client-1', assertion: () => assertion },
        }),
      },
      apis: [],
      store: fileTokenStore(folder, options),
      fetch: issuer.fetch,
    })
  expect(() => create({})).toThrow(/fileTokenStore\(folder, \{ key \}\)/)
  for (const key of ['k'.repeat(32), ['n'.repeat(32), 'k'.repeat(32)]]) {
    const tokens = create({ key })
    expect(await tokens.getToken('general')).toMatchObject({ value: 'token-1' })
    await tokens.close()
  }
})
