import type { Issuer } from './issuer/issuer.ts'
import type { Realm } from './realm.ts'
import type { ServiceUrls } from './service.ts'

export interface ControlPlace {
  origin: string
  token: string
}

/** Returns the environment variables from which the examples and guides read their configuration. */
export function environmentOf(
  { authUrl, weblinkAuthUrl, apiUrl, weblinkUrl }: ServiceUrls,
  { general, weblink }: Readonly<Record<Realm, Issuer>>,
  caFile: string | undefined,
  control: ControlPlace | undefined,
): Record<string, string> {
  return {
    AUTH_URL: authUrl,
    API_URL: apiUrl,
    ...credentialsOf('GENERAL', general),
    WEBLINK_AUTH_URL: weblinkAuthUrl,
    WEBLINK_URL: weblinkUrl,
    ...credentialsOf('WEBLINK', weblink),
    ...(caFile !== undefined && { NODE_EXTRA_CA_CERTS: caFile }),
    ...(control !== undefined && { CONTROL: control.origin, TOKEN: control.token }),
    ...pastProxy(new URL(authUrl).hostname),
  }
}

/** Returns what keeps calls to this machine away from a proxy, which could not reach it; nothing where there is none. */
function pastProxy(host: string): Record<string, string> {
  const { env } = process
  const proxies = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy']
  if (!proxies.some((name) => env[name])) return {}
  // some programs read only the one, some only the other
  const all = [env['NO_PROXY'], env['no_proxy'], 'localhost,127.0.0.1,::1', host].filter(Boolean).join(',')
  const list = [...new Set(all.split(/[,\s]+/).filter(Boolean))].join(',')
  return { NO_PROXY: list, no_proxy: list }
}

function credentialsOf(prefix: string, { cluster, registration, settings }: Issuer): Record<string, string> {
  const { clientId, clientSecret } = registration.credentials()
  const { privateKey, keyId } = registration.keyCredentials()
  return {
    [`${prefix}_CLIENT_ID`]: clientId,
    ...(settings.clientAuthentication === 'private_key_jwt'
      ? // one line, as files of variables want it
        {
          [`${prefix}_PRIVATE_KEY`]: privateKey.trim().replaceAll('\n', String.raw`\n`),
          [`${prefix}_KEY_ID`]: keyId,
        }
      : // none where every secret is refused
        registration.accepted() > 0 && { [`${prefix}_CLIENT_SECRET`]: clientSecret }),
    // the same assertion is read from a file until it is replaced
    ...(cluster !== undefined &&
      settings.workloadIdentity === true && { [`${prefix}_ASSERTION_FILE`]: cluster.file() }),
  }
}
