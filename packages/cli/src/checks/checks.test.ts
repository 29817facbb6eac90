import { PassThrough } from 'node:stream'

import { TokenlaneError } from '@tokenlane/core'
import { expect, test } from 'vitest'

import { lookedAt } from '../doctor/looked-at.ts'
import { reportText } from '../doctor/report.ts'
import type { Facts } from '../facts/facts.ts'
import { checkApplication } from './application.ts'
import { checkAssertions } from './assertion.ts'
import { checkCall } from './call.ts'
import { checkCertificates } from './certificate.ts'
import { checkClocks } from './clock.ts'
import { checkConnections } from './connection.ts'
import { together } from './finding.ts'
import { checkRates } from './rate.ts'
import { checkResponses } from './response.ts'
import { checkSecrets } from './secret.ts'
import { checkShared } from './shared.ts'
import { checkTokens } from './token.ts'

// Findings from facts that are hard to produce on one machine.

const now = new Date('2026-11-22T12:00:00Z')
const issuer = {
  name: 'general',
  url: 'https://auth.example.com/token',
  discovered: false,
  option: 'issuers.general.tokenEndpoint',
  clientAuthentication: 'client_secret_post',
  credentials: 'GENERAL_CLIENT_ID, GENERAL_CLIENT_SECRET',
  renewBefore: undefined,
}
const api = { baseUrl: 'https://api.example.com/', issuer: 'general', ratePolicy: undefined }

const facts = (seen: Partial<Facts>): Facts => ({
  now,
  refused: [],
  missingApis: [],
  configuration: { issuers: [issuer], apis: [api], ownFetch: false, store: false, limiter: false },
  status: { issuers: {}, apis: [] },
  events: [],
  servers: [],
  tokens: [],
  call: undefined,
  resources: [],
  shared: [],
  tls: [],
  axios: undefined,
  extraAuthorities: undefined,
  envFile: undefined,
  packages: [],
  secretDays: undefined,
  ...seen,
})

const certificate = {
  subject: 'auth.example.com',
  authority: 'Example Corp Proxy CA',
  from: new Date('2026-01-01'),
  until: new Date('2027-01-01'),
  isPublic: false,
}

test.each([
  ['https://api.test.example.com/', true],
  ['https://uat-api.example.com/', true],
  ['https://api.example.com/', false],
  ['https://contest.example.com/', false],
])('an API at %s beside a productive issuer: %s', (baseUrl, isMixed) => {
  const configuration = { ...facts({}).configuration, apis: [{ ...api, baseUrl }] }
  expect(checkApplication(facts({ configuration })).map(({ id }) => id)).toEqual(
    isMixed ? ['environments-mixed'] : [],
  )
})

test.each([
  [
    'issuers.general.authUrl',
    '/oauth/public/security/v1/token',
    'Remove the path /oauth from `issuers.general.authUrl`: /public/security/v1/token is appended to it.',
  ],
  ['tokenEndpoint', '/oauth/public/security/v1/token', "it is `token_endpoint` in the server's metadata"],
  ['issuer', '/realms/company', "set the server's `tokenEndpoint` instead"],
])('a wrong path of %s at %s is fixed where it stands', (option, path, fix) => {
  const wrong = { ...issuer, option, url: `https://auth.example.com${path}` }
  const [found] = checkTokens(
    facts({
      configuration: { ...facts({}).configuration, issuers: [wrong] },
      tokens: [
        {
          issuer: 'general',
          duration: 5,
          failure: { code: 'TOKEN_REQUEST_FAILED', reason: 'no token endpoint', status: 404 },
        },
      ],
    }),
  )
  expect(found).toMatchObject({ id: 'wrong-path', fix: expect.stringContaining(fix) as string })
})

test.each([
  ['tls_client_auth', 'ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_EXPIRED', 'wrong-key', 'The issuer refuses'],
  ['tls_client_auth', 'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'wrong-key', 'The issuer refuses'],
  ['tls_client_auth', 'ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE', 'wrong-key', 'The issuer refuses'],
  ['tls_client_auth', 'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE', 'wrong-key', 'The issuer may refuse'],
  ['client_secret_post', 'ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE', 'token-missing', 'Check `'],
])('a token request by %s that ends with %s is %s', (clientAuthentication, transportCode, id, fix) => {
  const issuers = [{ ...issuer, clientAuthentication }]
  const configuration = { ...facts({}).configuration, issuers }
  const failure = { code: 'TOKEN_REQUEST_FAILED', reason: 'could not be reached', transportCode } as const
  const tokens = [{ issuer: 'general', duration: 5, failure }]
  const [found] = checkTokens(facts({ configuration, tokens }))
  expect(found).toMatchObject({ id, fix: expect.stringContaining(fix) as string })
})

test('an alert about the certificate of a module that obtains its tokens while it loads is wrong-key', () => {
  const transportCode = 'ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_EXPIRED'
  const failure = { code: 'TOKEN_REQUEST_FAILED', reason: 'could not be reached', transportCode } as const
  const configuration = { ...facts({}).configuration, issuers: [] }
  const tokens = [{ issuer: 'general', duration: 5, failure }]
  expect(checkTokens(facts({ configuration, tokens }))).toMatchObject([{ id: 'wrong-key' }])
})

test.each([
  ['client_secret_post', 403, 'and check `issuers.general.tokenEndpoint`.'],
  ['client_secret_post', 496, 'the server wants a client certificate (`tls_client_auth`): ask its operator.'],
  ['tls_client_auth', 400, "the server refuses this client's certificate: ask its operator."],
])('a page for %s with status %i: %s', (clientAuthentication, status, says) => {
  const issuers = [{ ...issuer, clientAuthentication }]
  const configuration = { ...facts({}).configuration, issuers }
  const failure = { code: 'TOKEN_REQUEST_FAILED', reason: 'returned an HTML page', status } as const
  const [found] = checkTokens(facts({ configuration, tokens: [{ issuer: 'general', duration: 5, failure }] }))
  expect(found?.fix.endsWith(says)).toBe(true)
})

test.each([
  ['did not respond in 5 ms', /^Raise `requestTimeout` first.* 5 ms is too short/],
  [
    'did not respond in 5000 ms',
    /^The server hangs.* or raise `requestTimeout`, and `maxWait` if it is shorter \(it waited 5000 ms\)\. Check/,
  ],
  [
    'returned neither a token nor an error in 10 s',
    /^The server hangs.* or raise `requestTimeout`, and `maxWait` if it is shorter\. Check/,
  ],
])('an issuer that %s may need more time', (what, fix) => {
  const failure = { code: 'TOKEN_REQUEST_TIMEOUT', reason: `issuer "general" ${what}` } as const
  const [found] = checkTokens(facts({ tokens: [{ issuer: 'general', duration: 5, failure }] }))
  expect(found).toMatchObject({ id: 'no-response', fix: expect.stringMatching(fix) as string })
})

test('one unknown authority for several hosts is taken for a proxy that opens TLS', () => {
  const of = (origin: string): Facts['servers'][number] => ({
    origin,
    roles: ['issuer general'],
    certificate,
    certificateFailure: 'SELF_SIGNED_CERT_IN_CHAIN',
  })
  const [found, ...others] = checkCertificates(
    facts({ servers: [of('https://auth.example.com'), of('https://api.example.com')] }),
  )
  expect(others).toEqual([])
  expect(found).toMatchObject({
    id: 'authority-unknown',
    seen: expect.stringContaining('TLS-intercepting proxy') as string,
  })
  const [alone] = checkCertificates(facts({ servers: [of('https://auth.example.com')] }))
  expect(alone?.seen).not.toContain('proxy')
})

test('of many private authorities the first are named in full', () => {
  const servers = Array.from({ length: 7 }, (_, index) => ({
    origin: `https://api-${index}.example.com`,
    roles: [],
    certificate: { ...certificate, authority: `Example Corp Certificate Authority ${index}` },
  }))
  const [found] = checkCertificates(facts({ servers }))
  const names = servers.slice(0, 5).map((server) => `"${server.certificate.authority}"`)
  expect(found).toMatchObject({ id: 'authority-private', subject: `${names.join(', ')} and 2 more` })
  const text = reportText(
    { ok: true, findings: found === undefined ? [] : [found], looked: [] },
    new PassThrough(),
  )
  const shown = text.replaceAll(/\s+/g, ' ')
  // a finding that is only worth knowing says as much as any other
  for (const part of ['subject', 'seen', 'why', 'fix'] as const) expect(shown).toContain(found?.[part])
})

test.each([
  [14 * 86_400_000, []],
  [14 * 86_400_000 - 1, ['certificate-expires']],
])('a certificate with %i ms left', (left, ids) => {
  const until = new Date(now.getTime() + left)
  const server = { origin: issuer.url, roles: [], certificate: { ...certificate, until, isPublic: true } }
  expect(checkCertificates(facts({ servers: [server] })).map(({ id }) => id)).toEqual(ids)
})

test.each([
  [60_000, []],
  [60_001, ['clock-off']],
  [-60_001, ['clock-off']],
])('a clock that is off by %i ms', (clockOffset, ids) => {
  const servers = [{ origin: 'https://auth.example.com', roles: [], clockOffset }]
  expect(checkClocks(facts({ servers })).map(({ id }) => id)).toEqual(ids)
})

test('a clock that is off is an error where assertions are signed by it', () => {
  const servers = [{ origin: 'https://auth.example.com', roles: [], clockOffset: 120_000 }]
  const issuers = [{ ...issuer, clientAuthentication: 'private_key_jwt' }]
  const configuration = { ...facts({}).configuration, issuers }
  expect(checkClocks(facts({ servers })).map(({ severity }) => severity)).toEqual(['warning'])
  expect(checkClocks(facts({ servers, configuration })).map(({ severity }) => severity)).toEqual(['error'])
})

test.each(['ETIMEDOUT', 'ECONNRESET', 'EHOSTUNREACH'])('%s is a connection that failed', (failure) => {
  const servers = [{ origin: 'https://auth.example.com', roles: ['issuer general'], failure }]
  expect(checkConnections(facts({ servers }))).toMatchObject([{ id: 'connection-failed', severity: 'error' }])
})

test.each(['ERR_SSL_TLSV1_UNRECOGNIZED_NAME', 'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE'])(
  '%s is a refusal',
  (failure) => {
    const servers = [{ origin: 'https://auth.example.com', roles: ['issuer general'], failure, isOpen: true }]
    expect(checkConnections(facts({ servers }))[0]?.seen).toBe(
      `The server refused the TLS handshake (${failure}).`,
    )
  },
)

const called = { url: 'https://api.example.com/records', api: api.baseUrl }
test.each([
  ['401 for its token', { status: 401, isTokenRefused: true }, 'call-wrong-issuer'],
  ['401 with invalid_token', { status: 401, challenge: 'invalid_token' }, 'call-wrong-issuer'],
  ['401 for one token alone', { status: 401, isTokenRefused: true, isNextAccepted: true }, 'token-contested'],
  ['401 for another reason', { status: 401 }, 'call-unauthorized'],
  ['403 of the API', { status: 403 }, 'call-forbidden'],
  ['403 of a firewall', { status: 403, isHtml: true }, 'call-forbidden'],
  ['401 for a scope', { status: 401, challenge: 'insufficient_scope' }, 'call-forbidden'],
  ['a page', { status: 200, isHtml: true }, 'firewall-page'],
  ['a redirect elsewhere', { status: 302, redirectedTo: 'https://login.example.com' }, 'firewall-page'],
  ['404', { status: 404 }, 'call-failed'],
  ['no response', { failure: 'ECONNRESET' }, 'call-failed'],
])('a call with %s', (_, seen, id) => {
  expect(checkCall(facts({ call: { ...called, ...seen } })).map((found) => found.id)).toEqual([id])
})

test('a 5xx is a fault of the API, and says nothing of the token', () => {
  const [found] = checkCall(facts({ call: { ...called, status: 503 } }))
  expect(found?.seen).toBe('Status 503. Whether the API accepts the token is not known.')
  expect(found?.fix).toContain('down or overloaded')
})

test('a 404 for a path with an empty segment blames the slash', () => {
  const call = { ...called, url: 'https://api.example.com//records', status: 404 }
  expect(checkCall(facts({ call }))[0]?.fix).toContain('remove one slash')
  expect(checkCall(facts({ call: { ...call, url: called.url } }))[0]?.fix).not.toContain('slash')
})

test('where an API refuses a new token, the fix names every cause, and another issuer only as a question', () => {
  const call = { ...called, status: 401, challenge: 'invalid_token' }
  const issuers = [issuer, { ...issuer, name: 'weblink' }]
  const configuration = { ...facts({}).configuration, issuers }
  const causes =
    "the issuer's `scope` and `parameters` (audience or resource), and whether this client may call the API. `tokenlane call` shows what the API says in its body."
  expect(checkCall(facts({ call, configuration }))[0]?.fix).toBe(
    `Check this API's \`issuer\` (could it be "weblink"?), ${causes}`,
  )
  expect(checkCall(facts({ call }))[0]?.fix).toBe(
    `Check that the API and the issuer belong to the same environment, ${causes}`,
  )
})

test('the reason that an API gives for a 401 is quoted, and a scheme that it asks for instead is named', () => {
  const call = { ...called, status: 401, challenge: 'invalid_token', description: 'The audience is invalid' }
  expect(checkCall(facts({ call }))[0]?.seen).toContain('(invalid_token: "The audience is invalid")')
  expect(checkCall(facts({ call }))[0]?.fix).not.toContain('tokenlane call')
  const other = { ...called, status: 401, otherSchemes: ['azureapimanagementkey'] }
  expect(checkCall(facts({ call: other }))[0]?.seen).toContain('it asks for azureapimanagementkey')
})

test('where processes take each other\u2019s token away, the fix is a store, or another client if there is one', () => {
  const call = { ...called, status: 401, isTokenRefused: true, isNextAccepted: true }
  const configuration = { ...facts({}).configuration, store: true }
  expect(checkCall(facts({ call }))[0]?.fix).toContain('`store`')
  expect(checkCall(facts({ call, configuration }))[0]?.fix).toContain('give it its own')
})

const limits = [{ quota: 30, window: 1_000 }]
const limited = { ...facts({}).configuration, apis: [{ ...api, ratePolicy: { limits } }] }
const { baseUrl } = api

test('an API that refuses what its rate policy allows has one finding, by its headers where they name a limit', () => {
  const allows = [{ quota: 10, window: 1_000 }]
  const status = { issuers: {}, apis: [{ baseUrl, issuer: 'general', allows }] }
  const refusing = { configuration: limited, status }
  expect(checkRates(facts(refusing))).toMatchObject([
    {
      id: 'policy-differs',
      subject: baseUrl,
      seen: 'Either the API allows only about 10 per 1 s (`ratePolicy`: 30 per 1 s), or something else is using the quota.',
    },
  ])
  const events = [{ type: 'policy.differs', api: baseUrl, configured: limits, seen: allows } as const]
  expect(checkRates(facts({ ...refusing, events }))).toMatchObject([
    { id: 'policy-differs', seen: "The API's headers report 10 per 1 s; the rate policy has 30 per 1 s." },
  ])
  expect(checkRates(facts({ configuration: limited }))).toEqual([])
})

test('a policy that differs is told with the names of its limits', () => {
  const named = [
    { quota: 30, window: 1_000, name: 'account' },
    { quota: 500, window: 'day', match: ['POST', '/search'] },
  ] as const
  const configuration = { ...limited, apis: [{ ...api, ratePolicy: { limits: named } }] }
  const allows = [{ quota: 10, window: 1_000, name: 'account' }, named[1]]
  const status = { issuers: {}, apis: [{ baseUrl, issuer: 'general', allows }] }
  expect(checkRates(facts({ configuration, status }))[0]?.seen).toContain(
    '10 per 1 s (account) and 500 per day (POST, /search) (`ratePolicy`: 30 per 1 s (account) and',
  )
})

test('an API that slow responses keep below its quota is named with the option that gives more', () => {
  const slowed = { share: 0.43, option: "accounting: 'learned'" }
  const status = { issuers: {}, apis: [{ baseUrl, issuer: 'general', slowed }] }
  expect(checkRates(facts({ configuration: limited, status }))).toMatchObject([
    {
      id: 'policy-slow',
      severity: 'info',
      subject: baseUrl,
      seen: 'Waiting calls get only 0.43 of the quota.',
      fix: expect.stringContaining("`accounting: 'learned'`") as string,
    },
  ])
})

test('the rate limit headers of an API without a rate policy are named', () => {
  const call = { ...called, status: 200, rateHeaders: ['ratelimit', 'ratelimit-policy'] }
  expect(checkRates(facts({ call }))).toMatchObject([
    {
      id: 'policy-missing',
      seen: 'The API sends rate limit headers (ratelimit, ratelimit-policy), but has no `ratePolicy` in the options.',
    },
  ])
})

test.each([
  { status: 200 },
  { status: 201, redirectedTo: 'https://other.example.com' },
  { status: 301, isHtml: true },
])('a call with %o is fine', (seen) => {
  expect(checkCall(facts({ call: { ...called, ...seen } }))).toEqual([])
})

test('a 403 page that names a scope is the API\u2019s', () => {
  const call = {
    ...called,
    status: 403,
    isHtml: true,
    challenge: 'insufficient_scope',
    scope: 'reports.read',
  }
  expect(checkCall(facts({ call }))[0]?.fix).toContain('add "reports.read"')
})

test.each([
  [false, "no call made: pass an API's URL with --url to make one"],
  [true, 'no call made: there is no token'],
])('without a call, the list says why: was one asked for? %s', (isCallAsked, line) => {
  expect(lookedAt(facts({}), isCallAsked).map(({ text }) => text)).toContain(line)
})

test.each([
  [11, undefined, []],
  [10, undefined, ['warning']],
  [0, undefined, ['error']],
  [30, 30, ['warning']],
  [31, 30, []],
])('a secret with %i days left, --secret-days %s', (daysLeft, secretDays, severities) => {
  const status = { issuers: { general: { token: 'live' as const, daysLeft } }, apis: [] }
  const tokens = [{ issuer: 'general', lifetime: 3_600_000, duration: 1 }]
  const found = checkSecrets(facts({ status, tokens, secretDays }))
  expect(found.map(({ severity }) => severity)).toEqual(severities)
})

test('an adapter with another copy of core, or of another release, is named', () => {
  const core = { name: '@tokenlane/core', version: '1.1.0', core: '/a/package.json' }
  const fetch = { name: '@tokenlane/fetch', version: '1.1.0', core: '/a/package.json' }
  const idsOf = (...packages: Facts['packages']): string[] =>
    checkApplication(facts({ packages })).map(({ id }) => id)
  expect(idsOf(core, fetch)).toEqual([])
  expect(idsOf(core, { ...fetch, version: '1.0.0' })).toEqual(['packages-differ'])
  expect(idsOf(core, { ...fetch, core: '/b/package.json' })).toEqual(['core-copies'])
})

test('a script that blocks Redis is to be ended', () => {
  const shared = [{ part: 'token store', failedAt: 'claiming a name', failure: 'BUSY' }] as const
  expect(checkShared(facts({ shared }))[0]?.fix).toContain('`SCRIPT KILL`')
})

test('a store that was used before its client had connected is not a Redis that is down', () => {
  const shared = [{ part: 'token store' }] as const
  const events = [{ type: 'store.failed', reason: 'CLIENT_OFFLINE_ERROR', at: now }] as const
  expect(checkShared(facts({ shared, events }))[0]?.fix).toContain('wait for `connect()`')
})

test.each([
  ['`issuers.a.authUrl` is missing; allowed: a URL', 'Set `issuers.a.authUrl`. Allowed: a URL.'],
  ['the file /run/a is missing (read by `issuers.a.credentials`)', 'Create /run/a, or correct its path.'],
])('an application for which %s cannot start without it', (fault, fix) => {
  const refused = [new TokenlaneError('INVALID_OPTIONS', `Cannot create token manager: ${fault}`)]
  expect(checkApplication(facts({ refused }))).toMatchObject([
    { why: 'The application cannot start without it.', fix },
  ])
})

const secretOf = (outcome: 'accepted' | 'refused') => ({ clientId: 'a', outcome })
const assertionOf = (outcome: 'accepted' | 'refused' | 'unknown', fault?: string) => ({
  clientId: 'a',
  outcome,
  assertion: { path: '/run/token' },
  ...(fault !== undefined && { fault }),
})

test.each([
  ['both accepted', [secretOf('accepted'), assertionOf('accepted')], ['secret-droppable']],
  ['the assertion refused', [secretOf('accepted'), assertionOf('refused')], ['assertion-refused']],
  [
    'the assertion expired',
    [secretOf('accepted'), assertionOf('unknown', 'the assertion expired')],
    ['assertion-not-sent'],
  ],
  ['the secret dropped', [secretOf('refused'), assertionOf('accepted')], ['secret-refused']],
  ['the assertion alone', [assertionOf('accepted')], []],
] as const)('of a secret and an assertion with %s', (_what, clients, expected) => {
  const tokens = [{ issuer: 'general', lifetime: 60_000, duration: 1, clients }]
  expect(together(checkSecrets, checkAssertions)(facts({ tokens })).map(({ id }) => id)).toEqual(expected)
})

// written an hour before it expires: four fifths of its life and two minutes are over 10 minutes before the end
test.each([
  [600_000, []],
  [599_999, ['assertion-stale']],
  [1, ['assertion-stale']],
  [0, []],
])('a file whose assertion expires in %s ms of an hour', (left, expected) => {
  const [replacedAt, expiresAt] = [left - 3_600_000, left].map((ms) => new Date(now.getTime() + ms))
  const file = {
    path: '/run/token',
    isReadableByAll: false,
    issuer: 'https://cluster.example.com',
    subject: 'a',
  }
  const assertionFiles = [{ ...file, replacedAt: replacedAt as Date, expiresAt: expiresAt as Date }]
  const tokens = [{ issuer: 'general', lifetime: 60_000, duration: 1, assertionFiles }]
  expect(checkAssertions(facts({ tokens })).map(({ id }) => id)).toEqual(expected)
})

test('scopes that were not granted are a warning, and an unusual token response is worth knowing', () => {
  const events = [
    { type: 'scope.narrowed', issuer: 'general', missing: ['records.write'] },
    { type: 'token.unusual', issuer: 'general', oddities: ['status 201 instead of 200', 'no `token_type`'] },
  ] as const
  const found = checkResponses(facts({ events }))
  expect(found.map(({ id, severity, subject }) => [id, severity, subject])).toEqual([
    ['scope-narrowed', 'warning', 'issuer general'],
    ['token-unusual', 'info', 'issuer general'],
  ])
  expect(found[0]?.seen).toContain('records.write')
  expect(found[1]?.seen).toContain('status 201 instead of 200, no `token_type`')
})
