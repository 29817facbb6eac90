import { expect, test } from 'vitest'

import { printable } from '../src/foreign-text.ts'
import {
  createTokenManager,
  describeEvent,
  oauthIssuer,
  TokenlaneError,
  type TokenManager,
} from '../src/index.ts'
import { client } from './fake-issuer.ts'

const issuer = 'https://auth.example.com'
const wellKnown = new RegExp('^https://auth.example.com/.well-known/')

function discovering(metadata: object, response: () => Response): TokenManager {
  return createTokenManager({
    issuers: { general: oauthIssuer({ issuer, credentials: client, maxWait: 1 }) },
    apis: [],
    fetch: async (url) => (wellKnown.test(url) ? Response.json(metadata) : response()),
  })
}

async function failureOf(tokens: TokenManager): Promise<TokenlaneError> {
  return tokens.getToken('general').then(
    () => expect.unreachable(),
    (error: unknown) => error as TokenlaneError,
  )
}

test('metadata that names a token endpoint with a path of 900 KB fills no message', async () => {
  const metadata = { issuer, token_endpoint: `${issuer}/${'a'.repeat(900_000)}` }
  const error = await failureOf(discovering(metadata, () => new Response('', { status: 500 })))
  expect(error.message.length).toBeLessThan(600)
  expect(error.message).toContain('(https://auth.example.com/aaaa')
})

test('metadata of an issuer whose identifier has 900 KB fills no message', async () => {
  const error = await failureOf(
    discovering({ issuer: `https://other.example.com/${'a'.repeat(900_000)}` }, Response.error),
  )
  expect(error.message).toContain("publishes another issuer's metadata (https://other.example.com/aaaa")
  expect(error.message.length).toBeLessThan(600)
})

test.each([
  ['on one line', 'a\n\u001B[31mb', /`issuers\.a \[31mb\.tokenEndpoint` is not an absolute URL/],
  ['cut', 'a'.repeat(200_000), /`issuers\.a{192}…` is not an absolute URL/],
])('a name in the options is shown %s', (_what, name, shown) => {
  const issuers = { [name]: { tokenEndpoint: 'no URL', credentials: client } }
  expect(() => createTokenManager({ issuers, apis: [] })).toThrow(shown)
})

test('an event with a line break in a name is one line', () => {
  const event = { type: 'credentials.rotated', issuer: 'general', clientId: 'a\r\nb\u009B1mc' } as const
  expect(describeEvent(event)).toBe('general: now uses different credentials (client a b 1mc)')
})

const odd = `acme\n\u001B[31mred\u009B2K\u202E${'x'.repeat(200_000)}`
const answering =
  (status: number): typeof fetch =>
  async () =>
    new Response('', { status })
const named = (fetch: typeof globalThis.fetch, more: object = {}): TokenManager =>
  createTokenManager({
    issuers: {
      [odd]: oauthIssuer({ tokenEndpoint: `${issuer}/token`, credentials: client, maxWait: 1, ...more }),
    },
    apis: [],
    fetch,
  })

test.each<[string, () => TokenManager, string]>([
  ['that refuses the client', () => named(answering(401)), 'status 401'],
  ['that is down', () => named(answering(503)), 'status 503'],
  ['whose credentials are unusable', () => named(answering(200), { credentials: () => 5 }), 'no credentials'],
  ['that is not of this manager', () => named(answering(200)), 'not an issuer of this manager'],
])('an issuer %s is named on one line, cut, and the reason stands after it', async (what, create, reason) => {
  const tokens = create()
  const name = what === 'that is not of this manager' ? 'other' : odd
  const error = await Promise.resolve()
    .then(() => tokens.getToken(name))
    .then(
      () => expect.unreachable(),
      (thrown: unknown) => thrown as TokenlaneError,
    )
  for (const { message } of [error, (error.cause ?? error) as Error]) {
    expect(message.length).toBeLessThan(1_500)
    expect(message).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    expect(message).toContain('acme [31mred 2K xxx')
    expect(message).toMatch(reason)
  }
})

test('a closed manager names its issuer on one line, cut', async () => {
  const tokens = named(answering(200))
  await tokens.close()
  await expect(tokens.getToken(odd)).rejects.toMatchObject({
    message: expect.stringMatching(/^Cannot use issuer "acme \[31mred 2K x{170,190}…": the/) as string,
  })
})

test('whatever is in the reason of an error, its message is one line of 2,000 characters at most', () => {
  const { message } = new TokenlaneError('INVALID_OPTIONS', odd)
  expect(message).toMatch(/^acme \[31mred 2K x+… \(see /)
  expect(message.length).toBeLessThan(2_100)
})

test.each([
  ['plain text', 'Invalid client: "a" (b)', 'Invalid client: "a" (b)'],
  ['letters of every script', 'Ungültig 無効 שגוי', 'Ungültig 無効 שגוי'],
  ['line breaks', 'one\r\ntwo\u2028three\u2029four\u0085five', 'one two three four five'],
  ['control characters', 'a\u0000b\u0007c\u007Fd\u009Fe', 'a b c d e'],
  ['colours of a terminal', '\u001B[31;1mred\u001B[0m \u009B2Kgone', '[31;1mred [0m 2Kgone'],
  ['a title of a terminal', 'a\u001B]0;owned\u0007b', 'a ]0;owned b'],
  ['text that would be read from right to left', 'a\u202Etxt.exe\u2066b\u200Fc', 'a txt.exe b c'],
  ['what is not seen', 'a\u200Bb\uFEFFc\u00ADd', 'a b c d'],
  ['half of a character', 'a\uD83Db', 'a b'],
  ['white space around it', '  \n a  b \t', 'a b'],
])('%s', (_what, text, shown) => {
  expect(printable(text)).toBe(shown)
})

test('text of as many characters as are allowed is shown whole, and one more is cut', () => {
  expect(printable('a'.repeat(200))).toBe('a'.repeat(200))
  expect(printable('a'.repeat(201))).toBe(`${'a'.repeat(200)}…`)
  expect(printable('abcdef', 3)).toBe('abc…')
})

test('no character is cut in half', () => {
  expect(printable('ab😀d', 3)).toBe('ab…')
})

test('900,000 characters are cut without a look at most of them', () => {
  expect(printable('\u0000'.repeat(900_000))).toBe('…')
  expect(printable(`a${'\n'.repeat(900_000)}`).length).toBeLessThan(10)
})
