import { expect, test } from 'vitest'
import { createTokenManager, type TokenlaneEvent } from '../index.ts'
import { describeEvent } from '../log-observer.ts'

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
