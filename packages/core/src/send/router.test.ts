import fc from 'fast-check'
import { expect, test } from 'vitest'

import { createTokenManager, type TokenlaneEvent } from '../index.ts'
import { describeEvent } from '../log-observer.ts'
import { observersOf } from '../manager/observers.ts'
import { Router } from './router.ts'

const whole = { baseUrl: 'https://api.example.com/' }
const nested = { baseUrl: 'https://api.example.com/v2/orders' }
const weblink = { baseUrl: 'https://weblink.example.com/api/' }
const router = routerOf([whole, nested, weblink])

test.each([
  ['https://api.example.com/', whole],
  ['https://api.example.com', whole],
  ['https://API.example.com:443/records?page=2#x', whole],
  ['https://api.example.com/v2/orders', nested],
  ['https://api.example.com/v2/orders/7', nested],
  ['https://api.example.com/v2/orders?x', nested],
  ['https://api.example.com/v2/ordersX', whole],
  ['https://api.example.com/v2/orders/../users', whole],
  ['https://weblink.example.com/api/', weblink],
  ['https://weblink.example.com/other/../api/x', weblink],
  ['https://weblink.example.com\\api\\x', weblink],
  ['https://weblink.example.com/api/.hidden', weblink],
  ['https://weblink.example.com/api/%2fx', weblink],
  ["https://weblink.example.com/api/a.b;c=(d)!$&'*+,:@~-_/?/../../x", weblink],
])('%s belongs to %o', (url, api) => {
  expect(router.match(url)).toBe(api)
  expect(router.match(new URL(url))).toBe(api)
})

test.each([
  'http://api.example.com/',
  'https://api.example.com:8443/',
  'https://api.example.com./',
  'https://api.example.com.evil.example/',
  'https://evil.example/https://api.example.com/',
  'https://api.example.com@evil.example/',
  'https://user:pw@api.example.com/',
  'https://weblink.example.com/',
  'https://weblink.example.com/api',
  'https://weblink.example.com/apix/',
  'https://weblink.example.com/api/../admin',
  'https://weblink.example.com/api/%2e%2e/admin',
  'https://weblink.example.com/api/.%2E/admin',
  'https://weblink.example.com/api/x/.\t./../admin',
  'https://weblink.example.com/api/\\..\\..\\admin',
  '//api.example.com/',
  '/records',
  'records',
  '',
  'https://',
  'data:https://api.example.com/',
  'ftp://api.example.com/',
  'file:///api.example.com/',
  'mailto:a@api.example.com',
  'blob:https://api.example.com/',
  'blob:https://api.example.com/2f7c61e0-9c0b-4f5e-8d59-0f1c3b8f9a11',
])('%j gets no token', (url) => {
  expect(router.match(url)).toBeUndefined()
})

test.each(['http://a/', 'https://a/', 'http://a:81/', 'http://[::1]/'])(
  '%s is an origin, however short',
  (baseUrl) => {
    const alone = routerOf([{ baseUrl }])
    expect(alone.match(`${baseUrl}x/y`)).toEqual({ baseUrl })
    expect(alone.match(baseUrl)).toEqual({ baseUrl })
    expect(alone.match(baseUrl.replace('//', '//a'))).toBeUndefined()
  },
)

test('the API of the last URL is not that of one beside it, nor of one below that has an API of its own', () => {
  const orders = { baseUrl: 'https://orders.example.com/v2' }
  const below = { baseUrl: 'https://both.example.com/v2/' }
  const above = { baseUrl: 'https://both.example.com/' }
  const all = routerOf([weblink, orders, above, below])
  for (let turn = 0; turn < 2; turn += 1) {
    expect(all.match('https://weblink.example.com/api/x')).toBe(weblink)
    expect(all.match('https://weblink.example.com/api')).toBeUndefined()
    expect(all.match('https://weblink.example.com/api/../x')).toBeUndefined()
    expect(all.match('https://weblink.example.com.example/api/x')).toBeUndefined()
    expect(all.match('https://user@weblink.example.com/api/x')).toBeUndefined()
    expect(all.match('https://orders.example.com/v2/x')).toBe(orders)
    expect(all.match('https://orders.example.com/v2?x')).toBe(orders)
    expect(all.match('https://orders.example.com/v21')).toBeUndefined()
    expect(all.match('https://both.example.com/x')).toBe(above)
    expect(all.match('https://both.example.com/v2/x')).toBe(below)
  }
})

test.each(['a+b', 'a*b', 'a$', '(a)'])('a host with %s in it is that host only', (name) => {
  const odd = { baseUrl: `https://${name}.example.com/` }
  const alone = routerOf([odd])
  expect(alone.match(odd.baseUrl)).toBe(odd)
  for (const other of ['aab', 'ab', 'b', 'a', 'aa']) {
    expect(alone.match(`https://${other}.example.com/`)).toBeUndefined()
    expect(alone.match(`https://${other}.example.com/x`)).toBeUndefined()
  }
})

test('a token endpoint gets no token, also where an API lies around it', () => {
  const around = routerOf([whole], new URL('https://api.example.com/connect/token'))
  expect(around.match('https://api.example.com/connect/token')).toBeUndefined()
  expect(around.match('https://api.example.com/connect/token?x')).toBeUndefined()
  expect(around.match('https://api.example.com/connect/tokens')).toBe(whole)
})

test('text and URL objects match alike, one after the other', () => {
  const pieces = ['/', '.', '..', 'api', 'v2', 'orders', '%2e', '\\', '\t', '?', '#', '@', 'x']
  const origins = ['https://api.example.com', 'https://weblink.example.com']
  for (const origin of origins)
    for (const a of pieces)
      for (const b of pieces)
        for (const c of pieces) {
          const url = `${origin}/api/${a}${b}${c}`
          expect(router.match(url), url).toBe(router.match(new URL(url)))
          expect(router.match(url), url).toBe(naive(url))
        }
})

test('10,000 APIs of one origin are told apart, the longest path first', () => {
  const apis = Array.from({ length: 5_000 }, (_, id) => [
    { baseUrl: `https://api.example.com/tenants/${id}` },
    { baseUrl: `https://api.example.com/tenants/${id}/reports/` },
  ]).flat()
  const many = routerOf([whole, ...apis])
  for (const id of [0, 7, 70, 4_999]) {
    const [tenant, reports] = apis.slice(2 * id)
    expect(many.match(`https://api.example.com/tenants/${id}`)).toBe(tenant)
    expect(many.match(`https://api.example.com/tenants/${id}/orders/1`)).toBe(tenant)
    expect(many.match(`https://api.example.com/tenants/${id}/reports`)).toBe(tenant)
    expect(many.match(`https://api.example.com/tenants/${id}/reports/1`)).toBe(reports)
  }
  expect(many.match('https://api.example.com/tenants/5000/orders')).toBe(whole)
})

test('a URL of 10 million characters finds its API', () => {
  expect(router.match(`https://api.example.com/${'a/b'.repeat(3_333_333)}`)).toBe(whole)
})

/** What the rule says, word by word. */
function naive(text: string): object | undefined {
  const { origin, pathname } = new URL(text)
  return [nested, weblink, whole].find(({ baseUrl }) => {
    const base = new URL(baseUrl)
    const isBelow = pathname.startsWith(base.pathname.endsWith('/') ? base.pathname : `${base.pathname}/`)
    return origin === base.origin && (isBelow || pathname === base.pathname)
  })
}

function routerOf<T extends { readonly baseUrl: string }>(
  apis: readonly T[],
  ...tokenEndpoints: URL[]
): Router<T> {
  const made = new Router(apis, observersOf([], {}).emit)
  for (const url of tokenEndpoints) made.exclude(url)
  return made
}

test('text belongs to the API that its parsed URL belongs to, whatever it is made of', () => {
  const pieces = '/ // /v2/orders /api /. /.. .. . %2e /%61pi \\ ? # @ :443 /a /é ; /.hidden /a.b ~ _ -'
  const parts = fc.constantFrom(...pieces.split(' '), ' ', '\t', '\n')
  const origins = fc.constantFrom('https://api.example.com', 'HTTPS://weblink.example.com', 'http://a', 'x')
  const texts = fc
    .tuple(origins, fc.array(parts, { maxLength: 8 }))
    .map(([origin, path]) => origin + path.join(''))
  fc.assert(
    fc.property(texts, (text) => {
      const url = URL.parse(text)
      expect(router.match(text)).toBe(url === null ? undefined : router.match(url))
    }),
    { numRuns: 2_000 },
  )
})

const managed = (events: TokenlaneEvent[] | undefined): ReturnType<typeof createTokenManager> =>
  createTokenManager({
    issuers: {
      general: {
        tokenEndpoint: 'https://api.example.com/connect/token',
        credentials: { clientId: 'client', clientSecret: 'secret' },
      },
    },
    apis: [
      { baseUrl: 'https://api.example.com/v1/', issuer: 'general' },
      { baseUrl: 'https://api.example.com/v2/', issuer: 'general' },
    ],
    observe: events && ((event) => events.push(event)),
  })

test('a URL just outside of an API is reported once per path, without its query', () => {
  const events: TokenlaneEvent[] = []
  const tokens = managed(events)
  for (const url of ['https://api.example.com/v3/x?token=1', 'https://api.example.com/v3/x?token=2#y'])
    expect(tokens.route(url)).toBeUndefined()
  tokens.route(new URL('https://api.example.com/v1'))
  const apis = ['https://api.example.com/v1/', 'https://api.example.com/v2/']
  expect(events).toEqual([
    { type: 'route.missed', origin: 'https://api.example.com', path: '/v3/x', apis },
    { type: 'route.missed', origin: 'https://api.example.com', path: '/v1', apis },
  ])
})

test.each([
  'https://api.example.com/v1/records',
  'https://other.example.com/v3/x',
  'ftp://api.example.com/v3/x',
  'https://api.example.com/connect/token',
  'https://user:secret@api.example.com/v3/x',
  'records',
])('%s is not reported', (url) => {
  const events: TokenlaneEvent[] = []
  managed(events).route(url)
  expect(events).toEqual([])
})

test.each([
  ['http://api.example.com/v1/records', 'scheme'],
  ['https://api.example.com:8443/v1/records', 'port'],
])('%s differs from an API in its %s, which is reported once', (url, by) => {
  const events: TokenlaneEvent[] = []
  const tokens = managed(events)
  tokens.route(url)
  tokens.route(`${url}/other`)
  const { origin, pathname: path } = new URL(url)
  const apis = ['https://api.example.com/v1/', 'https://api.example.com/v2/']
  expect(events).toEqual([{ type: 'route.missed', origin, path, by, apis }])
  expect(describeEvent(events[0] as TokenlaneEvent)).toBe(
    `${origin}: differs in its ${by} from ${apis.join(', ')}, so its calls get no token`,
  )
})

test.each([
  ['http://localhost:8080/x', ['host', 'http://127.0.0.1:8080/']],
  ['http://[::1]:8080/x', ['host', 'http://127.0.0.1:8080/']],
  ['https://127.0.0.1:8080/x', ['scheme', 'http://127.0.0.1:8080/']],
  ['http://127.0.0.1:3000/x', undefined],
  ['http://localhost:3000/x', undefined],
])('on this machine, %s is reported as %j', (url, expected) => {
  const events: TokenlaneEvent[] = []
  const tokens = createTokenManager({
    issuers: {
      general: {
        tokenEndpoint: 'http://127.0.0.1:8081/token',
        credentials: { clientId: 'client', clientSecret: 'secret' },
        allowInsecureLoopback: true,
      },
    },
    apis: [{ baseUrl: 'http://127.0.0.1:8080/', issuer: 'general' }],
    observe: (event) => events.push(event),
  })
  tokens.route(url)
  const missed = events.find((event) => event.type === 'route.missed')
  expect(missed && [missed.by, ...missed.apis]).toEqual(expected)
})

test('at most 100 paths are reported, each with 200 characters at most', () => {
  const events: TokenlaneEvent[] = []
  const tokens = managed(events)
  for (let path = 0; path < 1_000; path += 1)
    tokens.route(`https://api.example.com/${path}/${'x'.repeat(1_000)}`)
  expect(events).toHaveLength(100)
  for (const event of events)
    expect(event).toMatchObject({ type: 'route.missed', path: expect.stringMatching(/^.{200}$/) })
})

test('an observer that comes later gets what happens from then on, until it is taken off', () => {
  const tokens = managed(undefined)
  tokens.route('https://api.example.com/early')
  const events: TokenlaneEvent[] = []
  const end = tokens.observe((event) => events.push(event))
  tokens.route('https://api.example.com/early')
  end()
  tokens.route('https://api.example.com/late')
  expect(events).toMatchObject([{ path: '/early' }])
  expect(() => tokens.observe('log' as never)).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }))
  expect(() => tokens.observe('log' as never)).toThrow(
    'Cannot observe: `observer` is a string; allowed: a function',
  )
})

test('events that an observer causes come after the one that it got, for every observer', () => {
  const tokens = managed(undefined)
  tokens.observe((event) => {
    if (event.type === 'route.missed' && event.path === '/a') tokens.route('https://api.example.com/b')
  })
  const paths: string[] = []
  tokens.observe((event) => event.type === 'route.missed' && paths.push(event.path))
  tokens.route('https://api.example.com/a')
  expect(paths).toEqual(['/a', '/b'])
})
