import type { IssuerOptions } from '../issuer/issuer-options.ts'
import { oauthIssuer } from '../issuer/oauth-issuer.ts'
import type { ApiOptions, TokenManagerOptions } from './manager-options.ts'
import { putTogether } from './put-together.ts'
import { mustBeObject, own, refuse, refusingTo } from '../options/check.ts'
import type { TokenManager } from './token-manager.ts'

/** An issuer's options without its `ratePolicy`, for each of the ways in which they can be given. */
type OneIssuerOptions<Options = IssuerOptions> = Options extends unknown ? Omit<Options, 'ratePolicy'> : never

/** The options of one issuer, of the one API that accepts its tokens, and of their manager. */
type OneApiOptions = OneIssuerOptions &
  Omit<ApiOptions, 'issuer'> &
  Omit<TokenManagerOptions, 'issuers' | 'apis'>

/** The owner of each option that is not the issuer's. */
const owners: Record<Exclude<keyof OneApiOptions, keyof OneIssuerOptions>, 'api' | 'manager'> = {
  baseUrl: 'api',
  ratePolicy: 'api',
  resend: 'api',
  refusedStatuses: 'api',
  scheme: 'api',
  environment: 'manager',
  store: 'manager',
  limiter: 'manager',
  observe: 'manager',
  fetch: 'manager',
  runtime: 'manager',
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
  return refusingTo(
    'create token manager',
    () => {
      mustBeObject(options, 'options')
      for (const name of ['issuers', 'apis'])
        if (Object.hasOwn(options, name))
          refuse(name, 'not an option of one API', 'for several, `createTokenManager({ issuers, apis })`')
      const optionsOf = (owner: unknown): object =>
        Object.fromEntries(Object.entries(options).filter(([name]) => own(owners, name) === owner))
      const inFull = {
        ...optionsOf('manager'),
        issuers: { default: oauthIssuer(optionsOf(undefined) as IssuerOptions) },
        apis: [{ ...optionsOf('api'), issuer: 'default' } as ApiOptions],
      }
      const tokens = {} as TokenManager<'default'>
      return Object.assign(tokens, putTogether(inFull, tokens, { others: Object.keys(owners) }).functions)
    },
    tokensFor,
  )
}
