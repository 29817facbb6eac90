import type { RatePolicy } from '@tokenlane/core'

/** What a test asks the worker for. */
export interface Asked {
  /** The manager, made by the first request that names it. */
  readonly manager: string
  readonly renewBefore?: number
  readonly ratePolicy?: RatePolicy
  /** Below the API. Without it the manager's status is asked for. */
  readonly path?: string
  /** After so many milliseconds the call is aborted. */
  readonly ms?: number
  /** After so many milliseconds the worker responds, without waiting for its call. */
  readonly leaveAfter?: number
}
