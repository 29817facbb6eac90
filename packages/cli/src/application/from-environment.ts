import {
  createTokenManager,
  envCredentials,
  generalIssuer,
  type TokenManager,
  type TokenManagerOptions,
  weblinkIssuer,
} from '@tokenlane/core'

import { CannotLook } from '../exit-status.ts'
import type { Source } from './application.ts'

/**
 * Returns a token manager with the URLs of the flags. Missing URLs and the credentials come from the documented
 * environment variables: `AUTH_URL`, `API_URL`, `GENERAL_CLIENT_ID`, `GENERAL_CLIENT_SECRET`, and `WEBLINK_AUTH_URL`,
 * `WEBLINK_URL`, `WEBLINK_CLIENT_ID`, `WEBLINK_CLIENT_SECRET`.
 *
 * @throws CannotLook if neither flags nor variables give the URL of an issuer.
 */
export function fromEnvironment(source: Source): TokenManager {
  const issuers: Record<string, TokenManagerOptions['issuers'][string]> = {}
  const urls = urlsOf(source)
  for (const { issuer, authUrl } of urls)
    issuers[issuer] =
      issuer === 'general'
        ? generalIssuer({ authUrl: authUrl.value, credentials: envCredentials('GENERAL') })
        : weblinkIssuer({ authUrl: authUrl.value, credentials: envCredentials('WEBLINK') })
  if (urls.length === 0)
    throw new CannotLook(
      'Found no application: name the module that exports `tokens` (--module src/tokens.ts), or set AUTH_URL and ' +
        'GENERAL_CLIENT_ID and GENERAL_CLIENT_SECRET, or use --env-file',
    )
  return createTokenManager({
    issuers,
    apis: urls.flatMap(({ issuer, apiUrl }) => (apiUrl ? [{ baseUrl: apiUrl.value, issuer }] : [])),
  })
}

/** Returns the variable or flag of each option that `fromEnvironment` gives a URL, such as `apis[0].baseUrl`. */
export function namesInEnvironment(source: Source): ReadonlyMap<string, string> {
  const urls = urlsOf(source)
  return new Map([
    ...urls.map(({ issuer, authUrl }) => [`issuers.${issuer}.authUrl`, authUrl.name] as const),
    ...urls
      .flatMap(({ apiUrl }) => apiUrl ?? [])
      .map(({ name }, index) => [`apis[${index}].baseUrl`, name] as const),
  ])
}

/** A URL, and the variable or flag that gives it. */
interface GivenUrl {
  readonly value: string
  readonly name: string
}

/** Returns the URLs of each issuer that has one. */
function urlsOf(
  source: Source,
): { issuer: 'general' | 'weblink'; authUrl: GivenUrl; apiUrl: GivenUrl | undefined }[] {
  const all = [
    {
      issuer: 'general',
      authUrl: given('--auth-url', source.authUrl, 'AUTH_URL'),
      apiUrl: given('--api-url', source.apiUrl, 'API_URL'),
    },
    {
      issuer: 'weblink',
      authUrl: given('--weblink-auth-url', source.weblinkAuthUrl, 'WEBLINK_AUTH_URL'),
      apiUrl: given('--weblink-url', source.weblinkUrl, 'WEBLINK_URL'),
    },
  ] as const
  return all.flatMap(({ issuer, authUrl, apiUrl }) => (authUrl ? [{ issuer, authUrl, apiUrl }] : []))
}

function given(flag: string, ofFlag: string | undefined, variable: string): GivenUrl | undefined {
  const value = ofFlag ?? process.env[variable]
  return value ? { value, name: ofFlag === undefined ? variable : flag } : undefined
}
