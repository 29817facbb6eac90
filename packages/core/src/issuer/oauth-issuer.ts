import type { AuthorizationServer } from 'oauth4webapi'
import { isRefusal } from '../credentials/refused-client.ts'
import { optional, text } from '../options/reader.ts'
import { readInstant } from '../time/read-instant.ts'
import { byMetadata } from './discovery.ts'
import type { IssuerOptions } from './issuer-options.ts'
import { oauthProofs } from './proofs.ts'
import {
  type Asking,
  type IssuedToken,
  type IssuerClock,
  knownServer,
  speaking,
  type TokenEndpoint,
} from './protocol.ts'

/**
 * Returns the options of any OAuth 2.0 authorization server that issues tokens for client credentials (RFC 6749 §4.4).
 *
 * `createTokenManager` refuses options that do not fit together, all in one error.
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
  const assertionAudience = optional(text('an audience for assertions, such as the token endpoint URL'))
  return speaking(options, { proofs: oauthProofs, asking: oauthAsking, settings: { assertionAudience } })
}

function oauthAsking({ url, isDiscovered, option, assertionAudience }: TokenEndpoint): Asking {
  const discovering = isDiscovered ? byMetadata(url, option) : undefined
  const clock: IssuerClock = { ahead: 0, date: null }
  return async (request, ask, proof) => {
    /** Asks once, and once more if a proof was refused whose times do not fit the issuer's clock (RFC 7523 §3). */
    const askBy = async (metadata: AuthorizationServer): Promise<IssuedToken> => {
      const alias = proof.fetchOf && metadata.mtls_endpoint_aliases?.token_endpoint
      const endpoint = new URL((alias ?? metadata.token_endpoint) as string)
      const audience = assertionAudience ?? (isDiscovered ? metadata.issuer : endpoint.href)
      const asked = { url: endpoint, metadata, audience, clock }
      try {
        return await ask(asked)
      } catch (error) {
        if (!isRefusal(error) || !learn(clock) || proof.isTimed !== true) throw error
        return ask(asked)
      }
    }
    return discovering?.(request, askBy) ?? askBy(knownServer(url).metadata)
  }
}

/** In seconds. A clock that is further off may be made up: a wrong time zone explains less. */
const mostAhead = 86_400

/** Takes over the issuer's time, and returns whether that changes a proof. */
function learn(clock: IssuerClock): boolean {
  const date = readInstant(clock.date)
  if (date === undefined) return false
  // `Date` leaves out the milliseconds: on average that is half a second (RFC 9110 §5.6.7)
  const ahead = Math.round((date + 500 - Date.now()) / 1_000)
  if (ahead === clock.ahead || Math.abs(ahead) > mostAhead) return false
  clock.ahead = ahead
  return true
}
