import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { afterEach, expect, test } from 'vitest'

import { createTokenManager, generalIssuer } from '../src/index.ts'
import { client, FakeIssuer } from './fake-issuer.ts'

// What a careless merge elsewhere in the process may have done before a manager is created.

const prototype = Object.prototype as unknown as Record<string, unknown>
const polluted: string[] = []
function pollute(members: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(members)) {
    polluted.push(name)
    Object.defineProperty(prototype, name, { value, configurable: true, writable: true, enumerable: true })
  }
}
afterEach(() => {
  for (const name of polluted.splice(0)) delete prototype[name]
})

const credentials = client
const apis = [{ baseUrl: 'https://api.example.com/', issuer: 'general' as const }]

test('`http:` is not allowed by somebody else', () => {
  pollute({ allowInsecureLoopback: true })
  const issuers = { general: { tokenEndpoint: 'http://localhost/token', credentials } }
  expect(() => createTokenManager({ issuers, apis: [] })).toThrow(
    expect.objectContaining({ code: 'INSECURE_TRANSPORT' }),
  )
})

test('nor is the endpoint, the scope, the fetch or the observer of somebody else taken', async () => {
  const issuer = new FakeIssuer()
  const strayed = new FakeIssuer()
  const told: unknown[] = []
  const issuers = {
    general: generalIssuer({ authUrl: 'https://auth.example.com', credentials }),
    other: { tokenEndpoint: 'https://other.example.com/token', credentials },
  }
  pollute({ tokenEndpoint: 'https://evil.example/', tokenPath: '/evil', authUrl: 'https://evil.example/' })
  pollute({ scope: 'admin', environment: 'evil', observe: (event: unknown) => told.push(event) })
  const tokens = createTokenManager({ issuers, apis, fetch: issuer.fetch })
  pollute({ fetch: strayed.fetch, url: 'https://evil.example/', baseUrl: 'https://evil.example/' })
  await tokens.warmUp()
  expect(issuer.urls.toSorted()).toEqual([
    'https://auth.example.com/public/security/v1/token',
    'https://other.example.com/token',
  ])
  expect(issuer.requests.filter((form) => Object.hasOwn(form, 'scope'))).toEqual([])
  expect([strayed.count, told.length]).toEqual([0, 0])
  expect(tokens.route('https://evil.example/')).toBeUndefined()
})

test('nor is a rate policy made laxer, or stricter, by somebody else', () => {
  pollute({
    spread: true,
    accounting: 'learned',
    concurrency: 0,
    maxQueued: -1,
    maxWait: 0,
    limitedStatuses: [1],
  })
  const general = { tokenEndpoint: 'https://auth.example.com/token', credentials }
  const withLimit = (limit: unknown): unknown =>
    createTokenManager({
      issuers: { general },
      apis: [{ ...apis[0], ratePolicy: { limits: [limit] } } as never],
    })
  expect(() => withLimit({ quota: 1, window: 1_000 })).not.toThrow()
  pollute({ quota: 1_000_000 })
  expect(() => withLimit({ window: 1_000 })).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }))
})

/** The interfaces of the public surface that are options, given by an application or an adapter. */
const ofOptions =
  /^export interface (?:\w*Options\w*|\w*Settings|RatePolicy|(?:Rate)?Limit|RateLimitHeaders|AuthUrl|\w+Credentials)\b[\s\S]*?^}/gm
/** Read by Node wherever code leaves them out: on every object they break `fetch` itself. */
const ofNode = ['signal', 'method', 'headers', 'body', 'status']

/** The names by which the sources tell the members of a union apart. */
function namesOfUnions(): string[] {
  const folder = new URL('../src/', import.meta.url)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  )
  const sources = files.map((file) => readFileSync(new URL(file, folder), 'utf8')).join('\n')
  return [...sources.matchAll(/\bhas\(\w+, '(\w+)'\)/g)].map(([, name]) => name ?? '')
}

test('no option is read that other code has put on every object', async () => {
  const surface = readFileSync(new URL('../api.md', import.meta.url), 'utf8')
  const options = (surface.match(ofOptions) ?? []).join('\n')
  const names = new Set([...options.matchAll(/^ +(?:readonly )?(\w+)\??:/gm)].map(([, name]) => name ?? ''))
  for (const name of ofNode) names.delete(name)
  for (const name of namesOfUnions()) names.add(name)
  expect(names.size).toBeGreaterThan(50)
  const program = fileURLToPath(new URL('polluted-process.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', program, ...names])
  expect(JSON.parse(stdout)).toEqual([])
})
