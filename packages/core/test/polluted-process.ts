// Does everything that options decide, once for each of the names given and each of some values, which is then on every object of
// the process, as after a careless merge. Prints the names that changed what came of it.
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import {
  createTokenManager,
  generalIssuer,
  logObserver,
  oauthIssuer,
  tokensFor,
  weblinkIssuer,
  type TokenManager,
} from '../src/index.ts'
import { fileTokenStore } from '../src/node.ts'
import { createTenants } from '../src/tenants.ts'
import { fakeTokens } from '../src/testing/index.ts'

const credentials = { clientId: 'application', clientSecret: 'a-secret-of-the-application' }
const baseUrl = 'https://api.example.com/'
// one of the first five calls waits for a slot, and the fifth is one too many of the month
const ratePolicy = {
  limits: [
    { quota: 100, window: 1_000 },
    { quota: 4, window: 'month' as const },
  ],
  concurrency: 1,
  maxWait: 10_000,
  rateLimitHeaders: { remaining: 'x-left' },
}
const { privateKey } = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})
const place = mkdtempSync(join(tmpdir(), 'polluted-'))
let folders = 0
const prototype = Object.prototype as unknown as Record<string, unknown>

async function outcome(): Promise<string> {
  const told: unknown[] = []
  const log = {
    info: () => {},
    warn: (line: string) => told.push(line),
    error: (line: string) => told.push(line),
  }
  const fetch = async (url: unknown, init: RequestInit = {}): Promise<Response> => {
    told.push(
      String(url),
      init.method,
      Object.entries(init.headers ?? {}),
      init.body instanceof URLSearchParams,
    )
    return Response.json({ access_token: 'token-1', token_type: 'Bearer', expires_in: 3_600 })
  }
  const issuers = {
    a: oauthIssuer({ tokenEndpoint: 'https://a.example.com/token', credentials }),
    b: generalIssuer({ authUrl: 'https://b.example.com', credentials }),
    c: weblinkIssuer({ authUrl: 'https://c.example.com', credentials }),
    d: oauthIssuer({ tokenEndpoint: 'https://d.example.com/', credentials: { clientId: 'd', privateKey } }),
    e: oauthIssuer({
      tokenEndpoint: 'https://e.example.com/',
      credentials: { clientId: 'e', assertion: () => 'a', assertionType: 'saml2' },
    }),
  }
  folders += 1
  const store = fileTokenStore(join(place, `${folders}`), { key: 'a-key-of-more-than-32-characters' })
  const apis = [{ baseUrl, issuer: 'a' as const, ratePolicy }]
  const tenants = createTenants({ options: () => ({ issuers, apis, fetch }) })
  const managers: TokenManager[] = [
    createTokenManager({ issuers, apis, fetch, store, observe: logObserver(log) }),
    tokensFor({
      ...oauthIssuer({ tokenEndpoint: 'https://a.example.com/token', credentials }),
      baseUrl,
      fetch,
    }),
    fakeTokens({ apis: [{ baseUrl }] }),
    tenants.get('acme'),
  ]
  for (const tokens of managers) {
    for (const issuer of Object.keys(tokens.status().issuers)) await tokens.getToken(issuer)
    const api = tokens.route(baseUrl)
    const send = async (call?: { client: string }): Promise<unknown> =>
      api?.send(async (authorization) => {
        told.push(authorization)
        return { status: 200, header: () => undefined, result: 'ok', discard() {} }
      }, call)
    for (const call of [undefined, { client: 'by hand' }]) await send(call)
    await Promise.all([send(), send()])
    await send().catch(({ code }: { code: string }) => told.push(code))
    told.push(tokens.status().apis)
    await tokens.close()
  }
  await tenants.close()
  return JSON.stringify(told)
}

const { TESTS, SEED = '0' } = process.env
const all = ['hostile', 7, true, [], {}, () => 'hostile']
// `npm test` tries one of them, which the seed draws
const drawn = Number(SEED) % all.length
const values = TESTS === 'all' ? all : all.slice(drawn, drawn + 1)
const usual = await outcome()
const changed: string[] = []
for (const name of process.argv.slice(2))
  for (const value of values) {
    Object.defineProperty(prototype, name, { value, configurable: true, writable: true, enumerable: true })
    const seen = await outcome().catch(String)
    Reflect.deleteProperty(prototype, name)
    if (seen !== usual) changed.push(`${name}: ${seen.slice(0, 200)}`)
  }
rmSync(place, { recursive: true })
console.log(JSON.stringify(changed))
process.exit()
