import type { TokenManagerOptions } from './manager-options.ts'
import { putTogether } from './put-together.ts'
import type { TokenManager } from './token-manager.ts'
import { refusingTo } from '../options/check.ts'

/**
 * Creates an application's token manager. Nothing is requested before the first call.
 *
 * @throws TokenlaneError `INVALID_OPTIONS` or `INSECURE_TRANSPORT`, naming every invalid option and what is allowed;
 * `CLIENT_SIDE_FORBIDDEN` in a page or worker of a browser.
 * @example
 * ```ts
 * const tokens = createTokenManager({
 *   issuers: {
 *     general: generalIssuer({ authUrl: 'https://auth.example.com', credentials: envCredentials('GENERAL') }),
 *   },
 *   apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general' }],
 * })
 * ```
 */
export function createTokenManager<const Issuer extends string>(
  options: TokenManagerOptions<Issuer>,
): TokenManager<Issuer> {
  // what messages and events name as their manager, before it has its functions
  const tokens = {} as TokenManager<Issuer>
  const { functions } = refusingTo(
    'create token manager',
    () => putTogether(options, tokens),
    createTokenManager,
  )
  return Object.assign(tokens, functions)
}
