import { reasonOf, type TokenlaneError } from '../errors.ts'
import type { Emit, RenewalReason } from '../events.ts'
import type { Grant } from '../issuer/token-source.ts'

/** Whose renewals are reported. */
export interface Reporting {
  /** Name of the issuer. */
  readonly issuer: string
  /** The token endpoint's URL without a query. */
  readonly endpoint: string
  readonly emit: Emit
}

/** Reports a new token: requested by this process, or taken from the store. */
export function reportToken(
  { issuer, emit }: Reporting,
  { duration }: Grant,
  expiresAt: Date,
  reason: RenewalReason,
  joiners: number,
): void {
  if (duration === undefined) emit?.({ type: 'token.received', issuer, expiresAt })
  else emit?.({ type: 'token.renewed', issuer, expiresAt, duration, reason, joiners })
}

/** Reports why there is no new token, and when the next try comes. */
export function reportFailure(
  { issuer, endpoint, emit }: Reporting,
  error: TokenlaneError,
  retryIn: number,
  tokenStillValid: boolean,
): void {
  // not in the signature: the declarations would name `cause`, which programs with the target es2020 do not have
  const { code, status, oauthError, cause } = error
  const { code: transportCode } = (cause ?? {}) as { code?: string }
  emit?.({
    type: 'renewal.failed',
    issuer,
    code,
    endpoint,
    ...(status !== undefined && { status }),
    ...(oauthError !== undefined && { oauthError }),
    ...(transportCode !== undefined && { transportCode }),
    reason: reasonOf(error).replace(/^Cannot obtain token: /, ''),
    retryIn,
    tokenStillValid,
  })
}
