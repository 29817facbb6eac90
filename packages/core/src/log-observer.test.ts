import { spawnSync } from 'node:child_process'
import { setImmediate } from 'node:timers/promises'
import { runInNewContext } from 'node:vm'
import { expect, test, vi } from 'vitest'
import type { TokenlaneEvent } from './events.ts'
import { describeEvent, logObserver } from './log-observer.ts'

const api = 'https://api.example.com/'
const issuer = 'general'
const expiresAt = new Date('2026-11-22T10:00:00Z')
const waited = { token: 0, slot: 0, limit: 0, pause: 0 }
const call = { type: 'call.finished', api, issuer, waited, duration: 80 } as const
const failed = {
  type: 'renewal.failed',
  issuer,
  code: 'TOKEN_REQUEST_FAILED',
  endpoint: 'https://auth.example.com/token',
  status: 503,
  reason: 'issuer "general" (https://auth.example.com/token) responded with status 503',
  repeats: 0,
  retryIn: 1_250,
  failFast: false,
  maxWait: 15_000,
} as const

const lines: readonly (readonly [string, string, TokenlaneEvent])[] = [
  [
    'debug',
    'https://api.example.com/: call finished after 80 ms with status 401, sent 2 times (rejected)',
    { ...call, status: 401, sends: 2, resends: ['rejected'] },
  ],
  [
    'info',
    'general: new token after expiry in 5 ms, 1 call waited; the issuer works again after 40 s (failed tries: 12)',
    {
      type: 'token.renewed',
      issuer,
      expiresAt,
      duration: 5,
      reason: 'expired',
      joiners: 1,
      outage: { duration: 40_000, failedTries: 12 },
    },
  ],
  [
    'info',
    'general: new token before expiry in 5 ms, 1 call waited',
    { type: 'token.renewed', issuer, expiresAt, duration: 5.2, reason: 'ahead', joiners: 1 },
  ],
  [
    'warn',
    'https://api.example.com/: none of 10 calls under way (`concurrency`) has ended for 10 s, and 500 wait: set a timeout, and read each response to its end',
    { type: 'slots.blocked', api, running: 10, queued: 500 },
  ],
  ['info', 'general: new token from the shared store', { type: 'token.received', issuer, expiresAt }],
  [
    'warn',
    'general: no new token (TOKEN_REQUEST_FAILED): issuer "general" (https://auth.example.com/token) responded with status 503; retrying in 1.3 s at the earliest; calls use the old token until it expires',
    { ...failed, tokenStillValid: true },
  ],
  [
    'warn',
    'general: no new token (TOKEN_REQUEST_FAILED: status 503, try 3); retrying in 1.3 s at the earliest; calls use the old token until it expires',
    { ...failed, repeats: 2, tokenStillValid: true },
  ],
  [
    'warn',
    'general: no new token (TOKEN_REQUEST_FAILED: status 503, try 201): issuer "general" (https://auth.example.com/token) responded with status 503; retrying in 1.3 s at the earliest; calls use the old token until it expires',
    { ...failed, repeats: 200, tokenStillValid: true },
  ],
  [
    'error',
    'general: no new token (TOKEN_REQUEST_FAILED): issuer "general" (https://auth.example.com/token) responded with status 503; retrying in 1.3 s at the earliest; calls wait up to 15 s',
    { ...failed, tokenStillValid: false },
  ],
  [
    'warn',
    `${api}: the API refused a token from general; renewing it`,
    { type: 'token.rejected', issuer, api },
  ],
  [
    'error',
    `${api}: the API also refuses new tokens from general: check apis[0].issuer, \`scope\`, \`parameters\` and what this client may call`,
    { type: 'rejection.repeated', issuer, api, option: 'apis[0].issuer' },
  ],
  [
    'error',
    `${api}: the API also refuses new tokens from general: its clock is behind the issuer's`,
    { type: 'rejection.repeated', issuer, api, option: 'apis[0].issuer', clockBehind: true },
  ],
  [
    'warn',
    `${api}: tokens from general are accepted, then refused within 1 s: if other processes use this client, share its token (\`store\`)`,
    { type: 'token.contested', issuer, api },
  ],
  [
    'debug',
    `${api}: call queued, 2 in the queue, empty in about 80 ms`,
    { type: 'call.queued', api, queued: 2, emptyIn: 80 },
  ],
  [
    'debug',
    `${api}: call sent after 40 ms, 1 in the queue`,
    { type: 'call.sent', api, waited: 40, queued: 1, emptyIn: 40 },
  ],
  [
    'debug',
    `${api}: axios call GET /v1/records finished after 80 ms with status 200, sent 2 times (rejected)`,
    {
      ...call,
      client: 'axios',
      method: 'GET',
      path: '/v1/records',
      status: 200,
      sends: 2,
      resends: ['rejected'],
    },
  ],
  [
    'debug',
    `${api}: call failed after 80 ms (TOKEN_REQUEST_FAILED)`,
    { ...call, code: 'TOKEN_REQUEST_FAILED', sends: 1, resends: [] },
  ],
  [
    'debug',
    `${api}: call failed after 80 ms (QUEUE_TIMEOUT), sent 2 times (rejected)`,
    { ...call, code: 'QUEUE_TIMEOUT', sends: 2, resends: ['rejected'] },
  ],
  [
    'debug',
    `${api}: call failed after 80 ms (QUEUE_TIMEOUT)`,
    { ...call, code: 'QUEUE_TIMEOUT', sends: 0, resends: [] },
  ],
  [
    'warn',
    `https://api.example.com/v2/: matches no API and gets no token; APIs on the same origin: ${api}`,
    { type: 'route.missed', origin: 'https://api.example.com', path: '/v2/', apis: [api] },
  ],
  [
    'warn',
    `${api}: answered 401 to a call that brings an \`Authorization\` of its own, so it gets no token: remove that header`,
    { type: 'authorization.kept', api },
  ],
  [
    'warn',
    `${api}: answered 401 to a call without a token: attach tokens to the client that made it, unless a redirect led there`,
    { type: 'client.unattached', api },
  ],
  [
    'warn',
    'general: `allowInsecureHosts` allows http: to keycloak, reports, unsafe for secrets and tokens',
    { type: 'transport.insecure', issuer: 'general', hosts: ['keycloak', 'reports'] },
  ],
  [
    'warn',
    `${api}: refused a call with status 429 and has no rate policy: with a \`ratePolicy\`, calls wait for their turn`,
    { type: 'policy.missing', api },
  ],
  [
    'warn',
    `${api}: paused for 1 s after status 429`,
    { type: 'api.paused', api, for: 999.97, status: 429, reason: 'refused' },
  ],
  [
    'warn',
    `${api}: paused for 1 s after status 429; the API allows only about 10 in 1 s (\`ratePolicy\`: 30 in 1 s), or something else uses the quota`,
    {
      type: 'api.paused',
      api,
      for: 1_000,
      status: 429,
      reason: 'refused',
      allows: [{ quota: 10, window: 1_000 }],
      configured: [{ quota: 30, window: 1_000 }],
    },
  ],
  [
    'warn',
    `${api}: with slow responses, waiting calls get 0.43 of the quota; \`accounting: 'learned'\` in its ratePolicy gives more`,
    { type: 'api.slowed', api, share: 0.43, option: "accounting: 'learned'" },
  ],
  [
    'warn',
    'token store: failed (timeout); this process requests its own tokens',
    { type: 'store.failed', reason: 'timeout' },
  ],
  ['info', 'token store: works again', { type: 'store.recovered' }],
  [
    'warn',
    `${api}: the shared rate budget failed (ECONNREFUSED); this process uses only its own share`,
    { type: 'limiter.failed', api, reason: 'ECONNREFUSED' },
  ],
  [
    'info',
    `${api}: works again, the API accepts tokens from general`,
    { type: 'rejection.ended', issuer: 'general', api },
  ],
  ['info', `${api}: the rate budget is shared again`, { type: 'limiter.recovered', api }],
  [
    'warn',
    'general: rotate the secret of client client-1: 5 days left',
    { type: 'secret.expiring', issuer, clientId: 'client-1', daysLeft: 5, threshold: 5 },
  ],
  [
    'error',
    'general: rotate the secret of client client-1: it has expired',
    { type: 'secret.expiring', issuer, clientId: 'client-1', daysLeft: 0, threshold: 0 },
  ],
  [
    'info',
    'general: now uses different credentials (client client-1)',
    { type: 'credentials.rotated', issuer, clientId: 'client-1' },
  ],
]

test.each(lines)('%s: %s', (level, line, event) => {
  const logged: [string, string][] = []
  const write = (name: string) => (text: string) => logged.push([name, text])
  const logger = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
  logObserver(logger, { calls: true })(event)
  expect(logged).toEqual([[level, line]])
})

test.each([
  ['nothing', undefined, '`logger.info` is missing'],
  ['an object without methods', {}, '`logger.info` is missing'],
  ['a logger without one', { info() {}, warn() {}, error: 'a' }, '`logger.error` is a string'],
])('%s as the logger is refused, since its lines would be lost', (_what, logger, reason) => {
  expect(() => logObserver(logger as never)).toThrow(
    expect.objectContaining({ code: 'INVALID_OPTIONS', message: expect.stringContaining(reason) as string }),
  )
})

test.each([
  ['log', 'warn', 'NestJS'],
  ['info', 'warning', "winston's syslog levels, @actions/core"],
])('a logger that says `%s` and `%s`, and needs its `this`, gets the same lines (%s)', (info, warn) => {
  class Logger {
    readonly lines: string[] = []
    error(line: string): void {
      this.lines.push(line)
    }
  }
  const logger = new Logger()
  const { error } = Logger.prototype
  const observer = logObserver(Object.assign(logger, { [info]: error, [warn]: error }) as never)
  observer({ type: 'store.recovered' })
  observer({ type: 'store.failed', reason: 'timeout' })
  expect(logger.lines).toHaveLength(2)
})

/** A promise of another library. */
// oxlint-disable-next-line unicorn/no-thenable -- as such promises are
const thenable = (then: (_: unknown, fail: (error: Error) => void) => void): object => ({ then })

const realm = runInNewContext('({ promise: async () => { throw new Error("no sink") } })') as {
  promise(): Promise<never>
}

test.each<[string, () => unknown]>([
  [
    'throws',
    () => {
      throw new Error('no sink')
    },
  ],
  ['rejects', async () => Promise.reject(new Error('no sink'))],
  ['rejects in another realm', () => realm.promise()],
  ['returns a thenable that fails', () => thenable((_, fail) => fail(new Error('no sink')))],
  [
    'returns a thenable that throws',
    () =>
      thenable(() => {
        throw new Error('no sink')
      }),
  ],
])('a logger that %s loses the line, and nothing else happens', async (_, write) => {
  const unhandled = vi.fn<(reason: unknown) => void>()
  process.on('unhandledRejection', unhandled)
  const observer = logObserver({ info: write, warn: write, error: write })
  expect(() => observer({ type: 'store.recovered' })).not.toThrow()
  await setImmediate()
  process.off('unhandledRejection', unhandled)
  expect(unhandled).not.toHaveBeenCalled()
})

test('lines for single calls come by choice', () => {
  const debug = vi.fn<(line: string) => void>()
  const logger = { debug, info() {}, warn() {}, error() {} }
  const event = { type: 'call.queued', api, queued: 1, emptyIn: 0 } as const
  logObserver(logger)(event)
  expect(debug).not.toHaveBeenCalled()
  logObserver(logger, { calls: true })(event)
  expect(debug).toHaveBeenCalledOnce()
  expect(() => logObserver(logger, { cals: true } as never)).toThrow('did you mean `calls`')
})

test.each([
  ['rejected', 'new token after a 401 in'],
  ['expired', 'new token after expiry in'],
  ['startup', 'new token in'],
] as const)('a token that was renewed because of %s is a "%s"', (reason, words) => {
  expect(
    describeEvent({ type: 'token.renewed', issuer, expiresAt, duration: 5, reason, joiners: 0 }),
  ).toContain(words)
})

test.each([
  [{ oauthError: 'invalid_client', status: 401 }, 'invalid_client'],
  [{ transportCode: 'ECONNREFUSED', status: undefined }, 'ECONNREFUSED'],
])('each failed try names its cause: %j', (cause, words) => {
  const event = { ...failed, ...cause, repeats: 6, tokenStillValid: false } as TokenlaneEvent
  expect(describeEvent(event)).toContain(`(TOKEN_REQUEST_FAILED: ${words}, try 7); `)
})

test.each([
  { type: 'store.failed', reason: 'CLIENT_CLOSED_ERROR' },
  { type: 'limiter.failed', api, reason: 'CLIENT_CLOSED_ERROR' },
] as const)('a client that was never opened is asked about: %j', (event) => {
  expect(describeEvent(event)).toMatch(/: was `connect\(\)` of its client called\?$/)
})

test('a logger without `debug` gets no line for a single call', () => {
  const logger = { info: expect.unreachable, warn: expect.unreachable, error: expect.unreachable }
  const observer = logObserver(logger, { calls: true })
  expect(() => observer({ type: 'call.queued', api, queued: 1, emptyIn: 0 })).not.toThrow()
})

test('an event is one line', () => {
  for (const [, , event] of lines) expect(describeEvent(event)).not.toMatch(/[\r\n]/)
})

const program = `
  import { createTokenManager } from ${JSON.stringify(new URL('index.ts', import.meta.url).href)}
  const fetch = async () => new Response('{"access_token":"secret-token","token_type":"Bearer","expires_in":3600}',
    { headers: { 'content-type': 'application/json' } })
  const tokens = createTokenManager({ fetch, apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general' }], issuers: { general: {
    tokenEndpoint: 'https://auth.example.com/token', credentials: { clientId: 'a', clientSecret: 'secret-secret' } } } })
  await tokens.getToken('general')
  await tokens.route('https://api.example.com/records').send(async () => ({ status: 200, discard() {} }))`

test('NODE_DEBUG=tokenlane* shows how a queue grows in a line for each power of ten', () => {
  const burst = `
  const { nodeDebugObserver } = await import(${JSON.stringify(new URL('log-observer.ts', import.meta.url).href)})
  const [observe] = nodeDebugObserver()
  for (let queued = 1; queued <= 1_234; queued += 1) observe({ type: 'call.queued', api: '/', queued, emptyIn: 0 })
  for (const queued of [1, 2]) observe({ type: 'call.queued', api: '/api/', queued, emptyIn: 0 })`
  const env = { ...process.env, NODE_DEBUG: 'tokenlane*' }
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', burst], {
    env,
    encoding: 'utf8',
  })
  expect(
    Array.from(stderr.matchAll(/(\S+): call queued, (\d+) in the queue/g), ([, ...found]) => found),
  ).toEqual([
    ['/', '1'],
    ['/', '10'],
    ['/', '100'],
    ['/', '1000'],
    ['/api/', '1'],
  ])
})

test.each([
  ['tokenlane', /^TOKENLANE \d+: general: new token in[^\n]*\n$/],
  ['tokenlane*', /general: new token in[^]*TOKENLANE-CALLS \d+: [^]*call finished/],
  ['tokenlane-calls', /^TOKENLANE-CALLS \d+: [^\n]*call finished[^\n]*\n$/],
  ['', /^$/],
])('NODE_DEBUG=%s prints %s', (section, expected) => {
  const env = { ...process.env, NODE_DEBUG: section }
  const { stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    env,
    encoding: 'utf8',
  })
  expect(status).toBe(0)
  expect(stderr).toMatch(expected)
  expect(stderr).not.toContain('secret-')
})
