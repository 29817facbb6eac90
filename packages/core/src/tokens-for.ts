import type { IssuerOptions } from './issuer/issuer-options.ts'
import { oauthIssuer } from './issuer/oauth-issuer.ts'
import type { ApiOptions, TokenManagerOptions } from './manager/manager-options.ts'
import { putTogether } from './manager/put-together.ts'
import { mustBeObject } from './options/check.ts'
import { withAllFaults } from './options/faults.ts'
import { mustBeKnown } from './options/reader.ts'
import type { TokenManager } from './token-manager.ts'

/** The options of one issuer, of the one API that accepts its tokens, and of their manager. */
type OneApiOptions = IssuerOptions &
  Omit<ApiOptions, 'issuer'> &
  Omit<TokenManagerOptions, 'issuers' | 'apis'>

/** Whose option each is. */
const owners: Record<keyof OneApiOptions, 'issuer' | 'api' | 'manager'> = {
  tokenEndpoint: 'issuer',
  issuer: 'issuer',
  authUrl: 'issuer',
  tokenPath: 'issuer',
  credentials: 'issuer',
  clientAuthentication: 'issuer',
  assertionAudience: 'issuer',
  scope: 'issuer',
  parameters: 'issuer',
  renewBefore: 'issuer',
  requestTimeout: 'issuer',
  maxWait: 'issuer',
  secretLifetime: 'issuer',
  notices: 'issuer',
  allowInsecureLoopback: 'issuer',
  baseUrl: 'api',
  ratePolicy: 'api',
  resend: 'api',
  refusedStatuses: 'api',
  environment: 'manager',
  store: 'manager',
  limiter: 'manager',
  observe: 'manager',
  fetch: 'manager',
}

/**
 * Creates the token manager for one authorization server and one API: `createTokenManager` with a single `oauthIssuer`,
 * whose name is `default`, and a single API. Nothing is requested before the first call.
 *
 * Accepts the options of `oauthIssuer` (either `tokenEndpoint` or `issuer`, and `credentials`), those of an API
 * (`baseUrl`, `ratePolicy`, `resend`), and the manager's own (`store`, `limiter`, `observe`, `fetch`, `environment`).
 *
 * @throws TokenlaneError as `createTokenManager` does.
 * @example
 * ```ts
 * const tokens = tokensFor({
 *   tokenEndpoint: 'https://login.example.com/oauth2/token',
 *   credentials: envCredentials('REPORTS'),
 *   baseUrl: 'https://reports.example.com/',
 * })
 * ```
 */
export function tokensFor(options: OneApiOptions): TokenManager<'default'> {
  return withAllFaults((collect) => {
    collect(mustBeObject, options as unknown, 'options')
    const given: object = options ?? {}
    mustBeKnown(given, 'options', Object.keys(owners), collect)
    const optionsOf = (owner: string): object =>
      Object.fromEntries(
        Object.entries(given).filter(([name]) => owners[name as keyof OneApiOptions] === owner),
      )
    const inFull = {
      ...optionsOf('manager'),
      issuers: { default: oauthIssuer(optionsOf('issuer') as IssuerOptions) },
      apis: [{ ...optionsOf('api'), issuer: 'default' } as ApiOptions],
    }
    const tokens = {} as TokenManager<'default'>
    return Object.assign(tokens, collect(putTogether, inFull, tokens, { path: 'options' })?.functions)
  })
}
