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
  const { env } = process
  const authUrl = source.authUrl ?? env['AUTH_URL']
  const weblinkAuthUrl = source.weblinkAuthUrl ?? env['WEBLINK_AUTH_URL']
  const issuers: Record<string, TokenManagerOptions['issuers'][string]> = {}
  const apis: { baseUrl: string; issuer: string }[] = []
  const add = (issuer: string, baseUrl: string | undefined): void => {
    if (baseUrl) apis.push({ baseUrl, issuer })
  }
  if (authUrl) {
    issuers['general'] = generalIssuer({ authUrl, credentials: envCredentials('GENERAL') })
    add('general', source.apiUrl ?? env['API_URL'])
  }
  if (weblinkAuthUrl) {
    issuers['weblink'] = weblinkIssuer({ authUrl: weblinkAuthUrl, credentials: envCredentials('WEBLINK') })
    add('weblink', source.weblinkUrl ?? env['WEBLINK_URL'])
  }
  if (Object.keys(issuers).length === 0)
    throw new CannotLook(
      'Found no application: name the module that exports `tokens` (--module src/tokens.ts), or set AUTH_URL and ' +
        'GENERAL_CLIENT_ID and GENERAL_CLIENT_SECRET, or use --env-file',
    )
  return createTokenManager({ issuers, apis })
}
