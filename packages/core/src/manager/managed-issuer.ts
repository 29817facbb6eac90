import { askIssuer } from '../issuer/token-request.ts'
import type { CheckedIssuer } from '../issuer/check-issuer.ts'
import { ContestedToken } from '../token/contested-token.ts'
import { type CredentialRotation, credentialRotation } from '../credentials/credential-rotation.ts'
import { defined, type Emit } from '../events.ts'
import { isRequestBound } from '../runtime/request-bound.ts'
import { flightsOfRequests } from '../token/flights-of-requests.ts'
import { RenewingToken } from '../token/renewing-token.ts'
import { flightsOfProcess } from '../token/single-flight.ts'
import type { ShareTokens } from '../store/token-store.ts'
import type { TokenEndpoint } from '../issuer/protocol.ts'
import type { ClientTokenSource } from '../issuer/token-source.ts'
import type { TokenlaneErrorCode } from '../errors.ts'
import { withCredentials } from '../issuer/with-credentials.ts'

export interface IssuerStatus {
  readonly token: 'none' | 'live' | 'expired'
  /** ISO 8601. */
  readonly expiresAt?: string
  /** Code of the last failure, until a renewal succeeds. */
  readonly lastError?: TokenlaneErrorCode
  /** When the first failed try since the last success was made, ISO 8601, and how many have failed since. */
  readonly failingSince?: string
  readonly failedTries?: number
  /** Whole days until the secret in use must be rotated, where `secretIssuedAt` is known. */
  readonly daysLeft?: number
  /** Set while several processes invalidate each other's tokens; see the event `token.contested`. */
  readonly contested?: true
}

/** Wires one issuer: its credentials, the requests to it, and its token. Nothing is requested before the first call. */
export class ManagedIssuer {
  readonly credentials: CredentialRotation
  /** How long one token request may take, in milliseconds: calls may come to wait for one that began in the background. */
  readonly requestTimeout: number
  /** Asks the issuer, without a look at what other processes have stored. */
  readonly issuing: ClientTokenSource
  readonly token: RenewingToken
  readonly contested: ContestedToken

  /** @param share shares its tokens with other processes. */
  constructor(
    asked: CheckedIssuer & Omit<TokenEndpoint, 'asking'>,
    emit: Emit,
    share: ShareTokens | undefined,
  ) {
    const { issuer, url, credentials, clientAuthentication, proofs, protocol, renewBefore, maxWait } = asked
    this.contested = new ContestedToken(issuer, emit)
    const form = { method: clientAuthentication, forms: proofs.map((proof) => proof.form) }
    const lifetime = { lifetime: asked.secretLifetime, notices: asked.notices }
    this.credentials = credentialRotation({ issuer, credentials, form, lifetime, emit })
    this.requestTimeout = Math.min(asked.requestTimeout, maxWait)
    const endpoint = { ...asked, asking: protocol.asking?.(asked) }
    this.issuing = askIssuer(endpoint, this.requestTimeout)
    // half of the wait: if the process that asks ends, another one that waits has as much time to ask
    const lease = Math.min(this.requestTimeout, maxWait / 2)
    const shared = share?.(this.issuing, endpoint, lease, this.credentials.initial()) ?? this.issuing
    this.token = new RenewingToken(withCredentials(this.credentials, shared, this.requestTimeout), {
      issuer,
      endpoint: url.origin + url.pathname,
      renewBefore,
      maxWait,
      flights: isRequestBound() ? flightsOfRequests : flightsOfProcess,
      credentialsMayChange: this.credentials.mayChange(),
      emit,
    })
  }

  /** Returns how the token is, and the secret. */
  status(): IssuerStatus {
    const { expiresAt, failingSince, ...status } = this.token.status()
    return defined({
      ...status,
      expiresAt: expiresAt?.toISOString(),
      failingSince: failingSince?.toISOString(),
      daysLeft: this.credentials.daysLeft(),
      contested: this.contested.isContested || undefined,
    })
  }
}
