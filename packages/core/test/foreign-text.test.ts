import { expect, test } from 'vitest'
import { describeEvent, oauthIssuer, type TokenlaneError, type TokenManager } from '../src/index.ts'
import { createTokenManager } from '../src/index.ts'
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
  expect(error.message).toContain('has the metadata of another issuer (https://other.example.com/aaaa')
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
  expect(describeEvent(event)).toBe('general: now uses other credentials of client a b 1mc')
})
