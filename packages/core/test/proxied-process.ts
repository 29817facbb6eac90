// Asks for one token by the environment that it is given, and prints why the first try brought none.
import { createTokenManager } from '../src/index.ts'

const tokens = createTokenManager({
  issuers: {
    general: {
      tokenEndpoint: process.env['TOKEN_ENDPOINT'] ?? '',
      credentials: { clientId: 'client-1', clientSecret: 'secret-1' },
      // a busy machine may take its time for a connection
      maxWait: 60_000,
      requestTimeout: 60_000,
    },
  },
  apis: [],
  observe(event) {
    if (event.type === 'renewal.failed') console.log(event.reason)
    void tokens.close()
  },
})
await tokens.getToken('general').catch(() => {})
