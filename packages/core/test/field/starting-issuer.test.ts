import { expect, test } from 'vitest'
import { client, fakeService, refusal } from '../fake-issuer.ts'
import { fakeTime, pass, second as aSecond } from '../fake-time.ts'

// What an issuer, or what stands before it, says while it starts or learns a new secret.

fakeTime()

/** Calls every 100 ms for a time; returns when each token request came, in seconds. */
async function askingFor(
  seconds: number,
  { tokens, issuer }: ReturnType<typeof fakeService>,
): Promise<number[]> {
  const times: number[] = []
  const start = Date.now()
  for (let calls = 0; calls < 10 * seconds; calls += 1) {
    const before = issuer.count
    await tokens.getToken('general').catch(() => {})
    for (let more = before; more < issuer.count; more += 1) times.push((Date.now() - start) / 1_000)
    await pass(100)
  }
  return times
}

test.each<[string, () => Response | Error]>([
  [
    '502 of its ingress (codecentric/helm-charts#824)',
    () => new Response('<h1>Bad Gateway</h1>', { status: 502 }),
  ],
  ['503', () => new Response('', { status: 503 })],
  ['500 (kg0r0/lua-resty-openidc-example#10)', () => new Response('', { status: 500 })],
  ['an HTML page with 403', () => new Response('<h1>forbidden</h1>', { status: 403 })],
  [
    'no connection (sitewhere/sitewhere#923)',
    () => new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } }),
  ],
  ['a reset', () => new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } })],
])('a service that starts 4 s before its issuer loses no call: %s', async (_what, refuse) => {
  const { tokens, issuer } = fakeService()
  issuer.respondWith(refuse)
  const calls = Promise.all(Array.from({ length: 10 }, () => tokens.getToken('general')))
  await pass(4 * aSecond)
  issuer.respondWith(undefined)
  await pass(11 * aSecond)
  expect(new Set((await calls).map(({ value }) => value))).toEqual(new Set(['token-1']))
})

test.each([404, 405])(
  'status %i may be of something in front of an issuer that starts: it is tried once more within 2 s, and loses no call',
  async (status) => {
    const { tokens, issuer } = fakeService()
    issuer.respondOnceWith(() => new Response('', { status }))
    const token = tokens.getToken('general')
    await pass(2 * aSecond)
    await expect(token).resolves.toMatchObject({ value: 'token-1' })
    expect(issuer.count).toBe(2)
  },
)

// waits are drawn
test.each(Array.from({ length: 10 }, (_, draw) => draw))(
  'a secret that not all replicas know after a rotation is tried again within 2 s, then after 30 s (microsoftgraph/microsoft-graph-docs#17966), draw %i',
  async () => {
    const service = fakeService({ credentials: () => client })
    await service.tokens.warmUp()
    await pass(3_600_000)
    service.issuer.respondWith(() => refusal())
    const [first, second, third, ...more] = await askingFor(35, service)
    expect([first, more]).toEqual([0, []])
    expect(second).toBeGreaterThanOrEqual(1)
    expect(second).toBeLessThanOrEqual(2.1)
    expect((third as number) - (second as number)).toBeCloseTo(30, 0)
  },
)

test('a client that is refused at a start is tried again within 2 s, once more within 6 s, then after 30 s', async () => {
  const service = fakeService()
  service.issuer.respondWith(() => refusal())
  const [first, second, third, fourth, ...more] = await askingFor(45, service)
  expect([first, more]).toEqual([0, []])
  expect(second).toBeLessThanOrEqual(2.1)
  expect((third as number) - (second as number)).toBeGreaterThanOrEqual(3)
  expect((third as number) - (second as number)).toBeLessThanOrEqual(6.1)
  expect((fourth as number) - (third as number)).toBeCloseTo(30, 0)
})

test('half of the replicas know a new secret: its calls are lost for 2 s at most', async () => {
  const service = fakeService({ credentials: () => client })
  service.issuer.respondOnceWith(() => refusal())
  expect(await askingFor(3, service)).toHaveLength(2)
  await expect(service.tokens.getToken('general')).resolves.toMatchObject({ value: 'token-1' })
})
