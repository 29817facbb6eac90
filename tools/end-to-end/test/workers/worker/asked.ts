import type { RatePolicy } from '@tokenlane/core'

/** What a test asks the worker for. */
export interface Asked {
  /** The manager, made by the first request that names it. */
  readonly manager: string
  readonly renewBefore?: number
  readonly ratePolicy?: RatePolicy
  /** Below the API. */
  readonly path: string
  /** Aborts the call after this time, in milliseconds. */
  readonly ms?: number
  /** Responds after this time, in milliseconds, without waiting for the call. */
  readonly leaveAfter?: number
}
