import type { IssuerOptions } from './issuer-options.ts'
import { oauthAsking } from './oauth-asking.ts'
import { oauthProofs } from './proofs.ts'
import { speaking } from './protocol.ts'

/**
 * Returns the options of any OAuth 2.0 authorization server that gives tokens by client credentials (RFC 6749 §4.4).
 *
 * What does not fit together is refused by `createTokenManager`, everything at once.
 *
 * @example
 * ```ts
 * oauthIssuer({
 *   issuer: 'https://auth.example.com',
 *   clientAuthentication: 'private_key_jwt',
 *   // REPORTS_CLIENT_ID, REPORTS_PRIVATE_KEY and REPORTS_KEY_ID
 *   credentials: envCredentials('REPORTS'),
 *   parameters: { audience: 'https://api.example.com' },
 * })
 * ```
 */
export function oauthIssuer(options: IssuerOptions): IssuerOptions {
  return speaking(options, { proofs: oauthProofs, asking: oauthAsking })
}
