import { describe, expect, test, vi } from 'vitest'
import { Random } from '../../../../tools/testing/src/random.ts'
import { createTokenManager, type TokenlaneEvent, type TokenManager } from '../../src/index.ts'
import { fakeTime, pass, second } from '../fake-time.ts'
import { LimitedEndpoint, startOf20, startOf40Tenants, untilToken } from '../simulation/busy-issuer/play.ts'

// Token endpoints that take so many requests a second, count the refused ones too, and answer 429 without Retry-After
// (camunda-docs#3510, spring-zeebe#565, zeebe-client-node-js#301).

fakeTime()

const settings = { credentials: { clientId: 'a', clientSecret: 'b' } }

function managerAt(
  tokenEndpoint: string,
  fetch: () => Promise<Response>,
  observe?: (event: TokenlaneEvent) => void,
) {
  return createTokenManager({
    issuers: { general: { tokenEndpoint, ...settings } },
    apis: [],
    fetch,
    ...(observe && { observe }),
  })
}

const inASecond = (status: number): Response => new Response('', { status, headers: { 'retry-after': '1' } })

/** How an endpoint says that it got too much, and how many requests of 20 processes it gets at most. */
const refusals: readonly (readonly [said: string, most: number, refuse: () => Response | Error])[] = [
  ['429', 200, () => Response.json({ error: 'too_many_requests' }, { status: 429 })],
  ['slow_down', 200, () => Response.json({ error: 'slow_down' }, { status: 400 })],
  ['a bare 503', 200, () => new Response('', { status: 503 })],
  ['a 503 that names one moment to all', 200, () => inASecond(503)],
  ['a 429 that names one moment to all', 200, () => inASecond(429)],
  // tried as those of an issuer that restarts in the first 15 s
  ['broken connections', 350, () => new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } })],
]

describe.each([1, 2, 3, 4, 5])('seed %i', (seed) => {
  test.each(refusals)(
    '20 processes at one request a second and %s: all have a token within 120 s, with at most %i requests',
    async (_said, most, refuse) => {
      const { granted, requests } = await startOf20(seed, refuse)
      expect(granted).toHaveLength(20)
      expect(requests.length).toBeLessThanOrEqual(most)
    },
  )

  test.each(refusals.map(([said, , refuse]) => [said, refuse] as const))(
    '40 tenants of one process at 5 a second and %s: all have a token within 20 s, with at most 120 requests',
    async (_said, refuse) => {
      const { granted, requests } = await startOf40Tenants(seed, refuse)
      expect(granted).toHaveLength(40)
      expect(requests.length).toBeLessThanOrEqual(120)
    },
  )
})

test.each([
  ['429', (): Response => new Response('', { status: 429 })],
  ['slow_down', (): Response => Response.json({ error: 'slow_down' }, { status: 400 })],
  [
    'words (Zoho)',
    (): Response =>
      Response.json(
        { error: 'Access Denied', error_description: 'You have made too many requests continuously.' },
        { status: 400 },
      ),
  ],
])('a streak does not begin anew when a call gives up: %s', async (_what, refuse) => {
  const endpoint = new LimitedEndpoint(0, refuse)
  const events: TokenlaneEvent[] = []
  const tokens = managerAt('https://auth.example.com/token', endpoint.fetch, (event) => events.push(event))
  void untilToken(tokens)
  await pass(300 * second)
  // by 3 s more each time, from 12 s on
  expect(endpoint.requests.length).toBeLessThanOrEqual(35)
  expect(
    events.every((event) => event.type === 'renewal.failed' && event.code === 'TOKEN_REQUEST_FAILED'),
  ).toBe(true)
  await tokens.close()
})

test.each<[string, Record<string, string>, number]>([
  ['Auth0', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': 'EPOCH' }, 429],
  [
    'Okta',
    { 'x-rate-limit-limit': '100', 'x-rate-limit-remaining': '0', 'x-rate-limit-reset': 'EPOCH' },
    429,
  ],
  ['a gateway with the headers of the draft', { ratelimit: '"tokens";r=0;t=8' }, 429],
  ['a gateway that says 503', { 'ratelimit-remaining': '0', 'ratelimit-reset': '8' }, 503],
])(
  'an issuer that names its reset in other words is asked again after it: %s',
  async (_who, given, status) => {
    let isFirst = true
    const reset = `${Math.floor(Date.now() / 1_000) + 8}`
    const headers = Object.entries(given).map(([name, text]): [string, string] => [
      name,
      text.replace('EPOCH', reset),
    ])
    const endpoint = new LimitedEndpoint(1_000)
    const tokens = managerAt('https://auth.example.com/token', async () => {
      if (!isFirst) return endpoint.fetch()
      isFirst = false
      return new Response('', { status, headers })
    })
    const token = tokens.getToken('general')
    await pass(7 * second)
    expect(endpoint.requests).toEqual([])
    await pass(3 * second)
    await expect(token).resolves.toMatchObject({ value: 't1' })
  },
)

test.each([
  [
    'Zoho',
    200,
    { error: 'Access Denied', error_description: 'You have made too many requests continuously.' },
  ],
  ['Amazon Cognito', 400, { error: 'TooManyRequestsException', message: 'Rate exceeded' }],
  ['Salesforce', 400, { error: 'login_rate_exceeded', error_description: 'login rate exceeded' }],
  ['a gateway', 403, { message: 'API rate limit exceeded' }],
  ['a firewall', 403, { message: 'Too many attempts, try again later' }],
  [
    'a list of tokens that is full',
    400,
    { error: 'invalid_request', error_description: 'Token limit reached' },
  ],
])('a busy issuer is not taken for one that refuses the client: %s', async (_who, status, body) => {
  const endpoint = new LimitedEndpoint(0, () => Response.json(body, { status }))
  const tokens = managerAt('https://auth.example.com/token', endpoint.fetch)
  const failed = tokens.getToken('general').catch((error: unknown) => error)
  await pass(20 * second)
  expect(await failed).toMatchObject({ busy: true, status })
  expect(endpoint.requests.length).toBeLessThanOrEqual(8)
})

test.each<readonly [how: string, refuse: () => Response | Error]>([
  ['429', () => new Response('', { status: 429 })],
  ['a 503 of a maintenance', () => new Response('', { status: 503 })],
  ['a broken connection', () => new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } })],
])('a manager whose turn comes too late does not blame its own requests: %s', async (_how, refuse) => {
  const url = 'https://auth.example.com/token'
  const endpoint = new LimitedEndpoint(0, refuse)
  const first = managerAt(url, endpoint.fetch)
  const asking = first.getToken('general').catch(() => {})
  await pass(100)
  const issuer = { tokenEndpoint: url, ...settings, maxWait: 50 }
  const late = createTokenManager({ issuers: { general: issuer }, apis: [], fetch: endpoint.fetch })
  const failed = await late.getToken('general').catch((error: Error) => error.message)
  expect(failed).toContain(
    ' is busy or down: others of this process are first; gave up after 1 try in 0 ms: ',
  )
  expect(failed).toMatch(/\(Retry-After: \d+ ms\)/)
  expect(endpoint.requests).toHaveLength(1)
  await pass(20_000)
  await asking
})

test('what Retry-After says to all processes at once does not bring them back together again and again', async () => {
  vi.spyOn(Math, 'random').mockImplementation(new Random(1).next)
  const endpoint = new LimitedEndpoint(
    1,
    () => new Response('', { status: 429, headers: { 'retry-after': '1' } }),
  )
  const all = Array.from({ length: 20 }, (_, pod) =>
    untilToken(managerAt(`https://auth.example.com/${pod}`, () => endpoint.fetch())),
  )
  await pass(150 * second)
  expect(endpoint.granted).toHaveLength(20)
  await Promise.all(all)
})

test('one tenant whose own quota is used up holds the others back by seconds, not by what it waits itself', async () => {
  const endpoint = new LimitedEndpoint(1_000)
  const forAll = async (_url: unknown, { body }: { readonly body: URLSearchParams }): Promise<Response> =>
    body.get('client_id') === 'spent'
      ? new Response('', { status: 429, headers: { 'retry-after': '3600' } })
      : endpoint.fetch()
  const of = (clientId: string): TokenManager =>
    createTokenManager({
      issuers: {
        general: {
          tokenEndpoint: 'https://auth.example.com/token',
          credentials: { clientId, clientSecret: 'b' },
        },
      },
      apis: [],
      fetch: forAll,
    })
  await expect(of('spent').getToken('general')).rejects.toMatchObject({ busy: true, retryAfter: 3_600_000 })
  const others = Array.from({ length: 10 }, (_, id) => of(`tenant-${id}`).getToken('general'))
  await pass(10 * second)
  await expect(Promise.all(others)).resolves.toHaveLength(10)
})

test.each<readonly [string, number, () => Response | Error | Promise<never>]>([
  ['refused connections', 5, () => new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })],
  ...[500, 502, 504].map((status) => [`${status}`, 5, () => new Response('', { status })] as const),
  // the try that is under way, and the distance to the next one
  ['timeouts', 10, () => new Promise<never>(() => {})],
  // which may be busy
  ['a bare 503', 30, () => new Response('', { status: 503 })],
])('an outage of any length by %s ends within %i s', async (_what, bound, fail) => {
  let isOut = true
  const endpoint = new LimitedEndpoint(1_000)
  const fetch = async (): Promise<Response> => {
    if (!isOut) return endpoint.fetch()
    const answer = await fail()
    if (answer instanceof Error) throw answer
    return answer
  }
  const asking = untilToken(managerAt('https://auth.example.com/token', fetch))
  await pass(600 * second)
  isOut = false
  await pass((bound + 0.5) * second)
  expect(endpoint.granted).toHaveLength(1)
  await asking
})
