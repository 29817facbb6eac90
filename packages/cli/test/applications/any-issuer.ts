// The bootstrap of an application whose issuer, way of authentication and credentials a test chooses.
import {
  type Credentials,
  createTokenManager,
  envCredentials,
  logObserver,
  oauthIssuer,
} from '@tokenlane/core'

const {
  TOKEN_ENDPOINT = '',
  API_URL = '',
  ISSUER,
  RESOURCE,
  METHOD = 'client_secret_post',
  CREDENTIALS,
  LOGS,
} = process.env

/** What functions of applications do wrong. */
const functions: Readonly<Record<string, () => unknown>> = {
  throws() {
    throw Object.assign(new Error('hidden-secret'), { code: 'VaultSealed' })
  },
  rejects: async () => Promise.reject(new RangeError('hidden-secret')),
  'gives no secret': async () => ({ clientId: 'client-1' }),
  'gives an empty secret': async () => ({ clientId: 'client-1', clientSecret: '' }),
  'gives nothing': () => undefined,
  'gives an empty list': () => [],
  'gives a date as text': () => ({ clientId: 'client-1', clientSecret: 'a', secretIssuedAt: '2025-10-01' }),
  lasts: async () => new Promise(() => {}),
}

export const tokens = createTokenManager({
  issuers: {
    general: oauthIssuer({
      ...(ISSUER ? { issuer: ISSUER } : { tokenEndpoint: TOKEN_ENDPOINT }),
      ...(RESOURCE && { parameters: { resource: RESOURCE } }),
      clientAuthentication: METHOD as 'client_secret_post',
      credentials: CREDENTIALS ? (functions[CREDENTIALS] as () => Credentials) : envCredentials('GENERAL'),
    }),
  },
  apis: [{ baseUrl: API_URL, issuer: 'general' }],
  ...(LOGS && { observe: logObserver(console, { calls: true }) }),
})
