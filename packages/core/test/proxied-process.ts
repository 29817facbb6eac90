// Asks for one token by the environment that it is given, and prints why there is none.
import { createTokenManager } from '../src/index.ts'

const tokens = createTokenManager({
  issuers: {
    general: {
      tokenEndpoint: process.env['TOKEN_ENDPOINT'] ?? '',
      credentials: { clientId: 'client-1', clientSecret: 'secret-1' },
      maxWait: 300,
    },
  },
  apis: [],
})
await tokens.getToken('general').catch((error: unknown) => console.log(String(error)))
