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

/** What an issuer is put together of. */
interface ManagedIssuerOptions {
  readonly name: string
  readonly checked: CheckedIssuer
  readonly askOptions: AskOptions
  readonly emit: Emit
  readonly store: GuardedStore | undefined
}

/** The requests to an issuer, and the token that comes of them. */
interface Prepared {
  readonly issuing: ClientTokenSource
  readonly token: RenewingToken
}

/**
 * One issuer put together: its clients at once, since they may be about to end; the requests to it and its token when they
 * are first needed, since a process may have many tenants with issuers that they never ask.
 */
export class ManagedIssuer {
  readonly credentials: CredentialRotation
  /** How long one token request may take, in milliseconds: calls may come to wait for one that began in the background. */
  readonly requestTimeout: number
  readonly #options: ManagedIssuerOptions
  #prepared: Prepared | undefined

  constructor(options: ManagedIssuerOptions) {
    const { name, checked, emit } = options
    this.#options = options
    this.credentials = new CredentialRotation({ ...checked.credentials, issuer: name, emit })
    this.requestTimeout = Math.min(checked.requestTimeout, checked.maxWait)
  }

  get token(): RenewingToken {
    return this.#prepare().token
  }

  /** Asks the issuer, without a look at what other processes have stored. */
  get issuing(): ClientTokenSource {
    return this.#prepare().issuing
  }

  /** Whether no renewal is under way. */
  get isIdle(): boolean {
    return this.#prepared?.token.isIdle !== false
  }

  async close(): Promise<void> {
    await this.#prepared?.token.close()
  }

  #prepare(): Prepared {
    return (this.#prepared ??= prepare(this.#options, this.credentials, this.requestTimeout))
  }
}

/** Nothing is asked before the first token request. */
function prepare(
  { name, checked, askOptions, emit, store }: ManagedIssuerOptions,
  credentials: CredentialRotation,
  requestTimeout: number,
): Prepared {
  const { renewBefore, maxWait, place } = checked
  const endpoint = tokenEndpoint(name, checked, askOptions)
  // half of the wait: if the process that asks ends, another one that waits has as much time to ask
  const lease = Math.min(requestTimeout, maxWait / 2)
  const issuing = askIssuer(endpoint, requestTimeout)
  const shared = store ? shareWithFleet(store, issuing, endpoint, lease) : issuing
  const source = withCredentials(credentials, shared, requestTimeout)
  const token = new RenewingToken(source, {
    issuer: name,
    endpoint: place.origin + place.pathname,
    renewBefore,
    maxWait,
    credentialsMayChange: credentials.mayChange,
    emit,
  })
  return { issuing, token }
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
