import type { ClientCredentials } from './issuer/client-registration.ts'
import type { Realm } from './realm.ts'

/** Where the sandbox's servers are. */
export interface SandboxUrls {
  authUrl: string
  weblinkAuthUrl: string
  apiUrl: string
  weblinkUrl: string
}

/** The variables that the examples and guides read their configuration from. */
export function environmentOf(
  { authUrl, weblinkAuthUrl, apiUrl, weblinkUrl }: SandboxUrls,
  { general, weblink }: Record<Realm, ClientCredentials>,
  caFile: string | undefined,
): Record<string, string> {
  return {
    AUTH_URL: authUrl,
    API_URL: apiUrl,
    GENERAL_CLIENT_ID: general.clientId,
    GENERAL_CLIENT_SECRET: general.clientSecret,
    WEBLINK_AUTH_URL: weblinkAuthUrl,
    WEBLINK_URL: weblinkUrl,
    WEBLINK_CLIENT_ID: weblink.clientId,
    WEBLINK_CLIENT_SECRET: weblink.clientSecret,
    ...(caFile !== undefined && { NODE_EXTRA_CA_CERTS: caFile }),
  }
}
