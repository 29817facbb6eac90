import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { createTokenManager, isTokenlaneError, oauthIssuer, TokenlaneError } from '../src/index.ts'
import { client, fakeService } from './fake-issuer.ts'

// A secret in the wrong place is refused, or used as what it is not, but never quoted.

const secret = 'Secret-that-nobody-may-see'
const misplaced: readonly unknown[] = [
  secret,
  ` ${secret} `,
  `${secret}:x`,
  `https://user:${secret}@auth.example.com/`,
  `https://auth.example.com/?client_secret=${secret}`,
  `https://auth.example.com/#${secret}`,
  `http://auth.example.com/${secret}`,
  `http://user:${secret}@localhost/`,
  `data:${secret}`,
  [secret],
  { secret },
  () => secret,
  new Date(Number.NaN),
  Symbol(secret),
]

/** Every place for a value, and options that have it there. */
const places: Record<string, (value: unknown) => unknown> = {
  options: (value) => value,
  issuers: (value) => ({ issuers: value, apis: [] }),
  apis: (value) => ({ issuers: { a: issuer }, apis: value }),
  observe: (value) => ({ issuers: { a: issuer }, apis: [], observe: value }),
  fetch: (value) => ({ issuers: { a: issuer }, apis: [], fetch: value }),
  issuer: (value) => ({ issuers: { a: value }, apis: [] }),
  ...Object.fromEntries(
    'tokenEndpoint scope credentials renewBefore requestTimeout maxWait allowInsecureLoopback'
      .split(' ')
      .map((name) => [name, (value) => ({ issuers: { a: { ...issuer, [name]: value } }, apis: [] })]),
  ),
  authUrl: (value) => ofService({ authUrl: value, tokenPath: '/token' }),
  tokenPath: (value) => ofService({ authUrl: 'https://auth.example.com', tokenPath: value }),
  clientId: (value) => ofService({ ...service, credentials: { ...client, clientId: value } }),
  clientSecret: (value) => ofService({ ...service, credentials: { ...client, clientSecret: value } }),
  secretIssuedAt: (value) => ofService({ ...service, credentials: { ...client, secretIssuedAt: value } }),
  ...Object.fromEntries(
    ['certificate', 'privateKey', 'pfx', 'passphrase'].map((name) => [
      name,
      (value) => {
        const credentials = { clientId: 'a', pfx: '', [name]: value }
        return { issuers: { a: oauthIssuer({ ...issuer, credentials }) }, apis: [] }
      },
    ]),
  ),
  'credentials[0]': (value) => ofService({ ...service, credentials: [value] }),
  'apis[0]': (value) => api(value),
  'apis[0].baseUrl': (value) => api({ baseUrl: value, issuer: 'a' }),
  'apis[0].baseUrl by environment': (value) => ({
    ...(api({ baseUrl: { production: value }, issuer: 'a' }) as object),
    environment: 'production',
  }),
  environment: (value) => ({
    ...(api({ baseUrl: { production: baseUrl }, issuer: 'a' }) as object),
    environment: value,
  }),
  'apis[0].issuer': (value) => api({ baseUrl, issuer: value }),
  'apis[0].ratePolicy': (value) => api({ baseUrl, issuer: 'a', ratePolicy: value }),
  ...Object.fromEntries(
    ['limits', 'spread', 'concurrency', 'maxQueued', 'maxWait', 'limitedStatuses'].map((name) => [
      `ratePolicy.${name}`,
      (value) => api({ baseUrl, issuer: 'a', ratePolicy: { limits: [limit], [name]: value } }),
    ]),
  ),
  quota: (value) => api({ baseUrl, issuer: 'a', ratePolicy: { limits: [{ ...limit, quota: value }] } }),
  window: (value) => api({ baseUrl, issuer: 'a', ratePolicy: { limits: [{ ...limit, window: value }] } }),
}

const baseUrl = 'https://api.example.com/'
const limit = { quota: 1, window: 1_000 }
const issuer = { tokenEndpoint: 'https://auth.example.com/token', credentials: client }
const service = { authUrl: 'https://auth.example.com', tokenPath: '/token' }
const ofService = (given: object): unknown => ({
  issuers: { a: { credentials: client, ...given } },
  apis: [],
})
const api = (given: unknown): unknown => ({ issuers: { a: issuer }, apis: [given] })

/** The manager, or why there is none. */
function outcomeOf(options: unknown): unknown {
  try {
    return createTokenManager(options as never)
  } catch (error) {
    return isTokenlaneError(error) ? error : `not ours: ${inspect(error)}`
  }
}

test.each(Object.entries(places))('as %s', (_, options) => {
  for (const value of misplaced) {
    const outcome = outcomeOf(options(value))
    const shown = inspect(outcome, { depth: Infinity, showHidden: true, getters: true }) + String(outcome)
    expect.soft(shown).not.toMatch(/not ours|secret-that/i)
  }
})

test('as the name of an issuer to get a token of', async () => {
  const { tokens } = fakeService()
  for (const value of misplaced) {
    const error: unknown = await tokens.getToken(value as string).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(TokenlaneError)
    expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain(secret)
  }
})
