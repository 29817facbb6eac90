import { createTokenManager, isTokenlaneError } from '../../src/index.ts'

declare const location: { readonly origin: string }

/** What somebody may try in client-side code, and what comes of it: `started`, or the error's code. */
export async function attempt(): Promise<string> {
  try {
    const tokens = createTokenManager({
      issuers: {
        general: {
          tokenEndpoint: `${location.origin}/token`,
          credentials: { clientId: 'client-1', clientSecret: 'secret-1' },
          allowInsecureLoopback: true,
        },
      },
      apis: [],
    })
    await tokens.getToken('general')
    return 'started'
  } catch (error) {
    return isTokenlaneError(error) ? error.code : String(error)
  }
}
