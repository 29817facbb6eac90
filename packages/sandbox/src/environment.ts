import type { ClientCredentials } from './issuer/client-registration.ts'
import type { Realm } from './realm.ts'
import type { ServiceUrls } from './service.ts'

/** Returns the environment variables from which the examples and guides read their configuration. */
export function environmentOf(
  { authUrl, weblinkAuthUrl, apiUrl, weblinkUrl }: ServiceUrls,
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
