import { expect, test, vi } from 'vitest'
import { configurationOf } from '../adapter.ts'
import { createTokenManager, envCredentials, oauthIssuer } from '../index.ts'

const clientSecret = 'a secret that no tool may see'

const options: Parameters<typeof createTokenManager>[0] = {
  issuers: {
    general: oauthIssuer({
      tokenEndpoint: 'https://auth.example.com/token',
      credentials: { clientId: 'client', clientSecret },
      renewBefore: 60_000,
    }),
  },
  apis: [
    {
      baseUrl: 'https://api.example.com/',
      issuer: 'general',
      ratePolicy: { limits: [{ quota: 5, window: 1_000 }] },
    },
  ],
}

test('a tool sees the endpoints, margins and policies of a manager, and no secret', () => {
  const configuration = configurationOf(createTokenManager(options))
  expect(configuration).toMatchObject({
    issuers: [
      {
        name: 'general',
        url: 'https://auth.example.com/token',
        discovered: false,
        option: 'issuers.general.tokenEndpoint',
        clientAuthentication: 'client_secret_post',
        credentials: 'issuers.general.credentials',
        renewBefore: 60_000,
      },
    ],
    apis: [
      {
        baseUrl: 'https://api.example.com/',
        issuer: 'general',
        ratePolicy: { limits: [{ quota: 5, window: 1_000 }] },
      },
    ],
    ownFetch: false,
    store: false,
    limiter: false,
  })
  expect(JSON.stringify(configuration)).not.toMatch(/secret that/)
})

test('a tool sees which variables hold the credentials', () => {
  vi.stubEnv('SHOP_CLIENT_ID', 'client')
  vi.stubEnv('SHOP_CLIENT_SECRET', clientSecret)
  const general = oauthIssuer({
    tokenEndpoint: 'https://auth.example.com/token',
    credentials: envCredentials('SHOP'),
  })
  const configuration = configurationOf(createTokenManager({ issuers: { general }, apis: [] }))
  vi.unstubAllEnvs()
  expect(configuration?.issuers[0]?.credentials).toBe('SHOP_CLIENT_ID, SHOP_CLIENT_SECRET')
})

test.each([undefined, null, 'tokens', {}])('what is not a manager (%s) has no configuration', (given) => {
  expect(configurationOf(given)).toBeUndefined()
})
