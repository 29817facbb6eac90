import { expect, test } from '@jest/globals'
import { createTokenManager, envCredentials, generalIssuer } from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'

const { AUTH_URL = '', API_URL = '' } = process.env

test('reads records from the sandbox', async () => {
  await using tokens = createTokenManager({
    issuers: { general: generalIssuer({ authUrl: AUTH_URL, credentials: envCredentials('GENERAL') }) },
    apis: [{ baseUrl: API_URL, issuer: 'general' }],
  })
  const response = await createFetch(tokens)(`${API_URL}records`)
  expect(response.status).toBe(200)
})
