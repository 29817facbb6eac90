import { expect, test, vi } from 'vitest'
import { Random } from '../../../../tools/testing/src/random.ts'
import { createTokenManager, type TokenlaneEvent, type TokenManager } from '../../src/index.ts'
import { createTenants } from '../../src/tenants.ts'
import { fakeTime, pass, second } from '../fake-time.ts'

// Token endpoints that take so many requests a second, count the refused ones too, and answer 429 without Retry-After
// (camunda-docs#3510, spring-zeebe#565, zeebe-client-node-js#301).

fakeTime()

/** An endpoint that takes `most` requests in each second; `requests` are the times of all, `granted` of the tokens. */
function limitedEndpoint(
  most: number,
  refuse = (): Response => Response.json({ error: 'too_many_requests' }, { status: 429 }),
) {
  const requests: number[] = []
  const granted: number[] = []
  const fetch = async (): Promise<Response> => {
    const now = performance.now()
    requests.push(now)
    if (requests.filter((at) => at > now - second).length > most) return refuse()
    granted.push(now)
    return Response.json({ access_token: `t${granted.length}`, token_type: 'Bearer', expires_in: 3_600 })
  }
  return { requests, granted, fetch }
}

const settings = { credentials: { clientId: 'a', clientSecret: 'b' } }

/** Lets an application ask until it has its token, half a second after each failure. */
async function untilToken(tokens: TokenManager): Promise<void> {
  for (;;) {
    const failed = await tokens.getToken('general').then(
      () => false,
      () => true,
    )
    if (!failed) return
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}

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

test.each([1, 2, 3, 4, 5])(
  '20 processes at one request a second: all have a token within 120 s, with at most 200 requests (seed %i)',
  async (seed) => {
    vi.spyOn(Math, 'random').mockImplementation(new Random(seed).next)
    const endpoint = limitedEndpoint(1)
    // a URL and a fetch of its own for each: processes know nothing of one another
    const all = Array.from({ length: 20 }, (_, pod) =>
      untilToken(managerAt(`https://auth.example.com/${pod}`, () => endpoint.fetch())),
    )
    await pass(120 * second)
    expect(endpoint.granted).toHaveLength(20)
    expect(endpoint.requests.length).toBeLessThanOrEqual(200)
    await Promise.all(all)
  },
)

test.each([1, 2, 3, 4, 5])(
  '40 tenants of one process at 5 a second: all have a token within 20 s, with at most 120 requests (seed %i)',
  async (seed) => {
    vi.spyOn(Math, 'random').mockImplementation(new Random(seed).next)
    const endpoint = limitedEndpoint(5)
    const tenants = createTenants({
      options: (id) => ({
        issuers: {
          general: {
            tokenEndpoint: 'https://auth.example.com/token',
            credentials: { clientId: id, clientSecret: 'b' },
          },
        },
        apis: [],
        fetch: endpoint.fetch,
      }),
    })
    const all = Array.from({ length: 40 }, (_, id) => untilToken(tenants.get(`tenant-${id}`)))
    await pass(20 * second)
    expect(endpoint.granted).toHaveLength(40)
    expect(endpoint.requests.length).toBeLessThanOrEqual(120)
    await Promise.all(all)
    await tenants.close()
  },
)

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
  const endpoint = limitedEndpoint(0, refuse)
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

test('what Retry-After says to all processes at once does not bring them back together again and again', async () => {
  vi.spyOn(Math, 'random').mockImplementation(new Random(1).next)
  const endpoint = limitedEndpoint(
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
  const endpoint = limitedEndpoint(1_000)
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

test.each([
  [
    'refused connections',
    (): Response | Error => new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } }),
  ],
  ['502', (): Response | Error => new Response('', { status: 502 })],
])('an outage of any length ends within 5 s: %s', async (_what, fail) => {
  let isOut = true
  const endpoint = limitedEndpoint(1_000)
  const fetch = async (): Promise<Response> => {
    if (!isOut) return endpoint.fetch()
    const answer = fail()
    if (answer instanceof Error) throw answer
    return answer
  }
  const asking = untilToken(managerAt('https://auth.example.com/token', fetch))
  await pass(600 * second)
  isOut = false
  await pass(5.5 * second)
  expect(endpoint.granted).toHaveLength(1)
  await asking
})
