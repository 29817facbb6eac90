import { askIssuer } from '../issuer/ask-issuer.ts'
import type { CheckedIssuer } from '../issuer/check-issuer.ts'
import { CredentialRotation } from '../credentials/credential-rotation.ts'
import type { Emit } from '../events.ts'
import type { GuardedStore } from '../store/guarded-store.ts'
import { RenewingToken } from '../token/renewing-token.ts'
import { shareWithFleet } from '../store/share-with-fleet.ts'
import { type AskOptions, tokenEndpoint } from '../issuer/token-endpoint.ts'
import type { ClientTokenSource } from '../issuer/token-source.ts'
import type { TokenlaneErrorCode } from '../errors.ts'
import { withCredentials } from '../issuer/with-credentials.ts'

export interface IssuerStatus {
  readonly token: 'none' | 'live' | 'expired'
  /** ISO 8601. */
  readonly expiresAt?: string
  /** Code of the last failure, until a renewal succeeds. */
  readonly lastError?: TokenlaneErrorCode
  /** Whole days until the secret in use must be rotated, where `secretIssuedAt` is known. */
  readonly daysLeft?: number
}

/** One issuer put together: its clients, the requests to it, and the token that comes of them. */
export interface ManagedIssuer {
  readonly token: RenewingToken
  readonly credentials: CredentialRotation
  /** Asks the issuer, without a look at what other processes have stored. */
  readonly issuing: ClientTokenSource
  /** How long one token request may take, in milliseconds. */
  readonly requestTimeout: number
}

/** Puts an issuer together; nothing is asked before the first token request. */
export function manageIssuer(
  name: string,
  issuer: CheckedIssuer,
  askOptions: AskOptions,
  emit: Emit,
  store: GuardedStore | undefined,
): ManagedIssuer {
  const credentials = new CredentialRotation({ ...issuer.credentials, issuer: name, emit })
  const endpoint = tokenEndpoint(name, issuer, askOptions)
  const { renewBefore, maxWait } = issuer
  // calls may come to wait for a renewal that began in the background
  const requestTimeout = Math.min(issuer.requestTimeout, maxWait)
  // half of the wait: if the process that asks ends, another one that waits has as much time to ask
  const lease = Math.min(requestTimeout, maxWait / 2)
  const issuing = askIssuer(endpoint, requestTimeout)
  const shared = store ? shareWithFleet(store, issuing, endpoint, lease) : issuing
  const source = withCredentials(credentials, shared, requestTimeout)
  const token = new RenewingToken(source, {
    issuer: name,
    endpoint: issuer.place.origin + issuer.place.pathname,
    renewBefore,
    maxWait,
    credentialsMayChange: credentials.mayChange,
    emit,
  })
  return { token, credentials, issuing, requestTimeout }
}

/** Returns how the token of an issuer is, and its secret. */
export function issuerStatus({ token, credentials }: ManagedIssuer): IssuerStatus {
  const { expiresAt, ...status } = token.status()
  const daysLeft = credentials.daysLeft()
  return {
    ...status,
    ...(expiresAt && { expiresAt: expiresAt.toISOString() }),
    ...(daysLeft !== undefined && { daysLeft }),
  }
}
