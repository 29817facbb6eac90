import { createTokenManager, envCredentials, generalIssuer, type TokenManager } from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'

// on globalThis: the development server loads this module again at each change, and each bundle has a copy of it
const kept = globalThis as { tokens?: TokenManager }

/** Returns the manager of this process, made by the first call: a build loads this module, and has no secrets. */
export function tokens(): TokenManager {
  const { AUTH_URL = '', API_URL = '' } = process.env
  return (kept.tokens ??= createTokenManager({
    issuers: { general: generalIssuer({ authUrl: AUTH_URL, credentials: envCredentials('GENERAL') }) },
    apis: [{ baseUrl: API_URL, issuer: 'general' }],
  }))
}

/** Calls the API. What Next.js caches of it is up to `init`, as with `fetch`. */
export function api(path: string, init?: RequestInit): Promise<Response> {
  const fetch = createFetch(tokens())
  return fetch(new URL(path, process.env['API_URL']), init)
}
