import type { AccessToken } from '../token/access-token.ts'
import type { Permit } from './rate-limiter.ts'

/** What a call holds while it may send: a live token, a permit, and a slot until it leaves the lane. */
export interface Turn {
  readonly token: AccessToken
  readonly permit: Permit
  /** On the monotonic clock. */
  readonly takenAt: number
}
