import { refuse, refusingTo, shape } from '../options/check.ts'
import { flag, object, optional, type ReadAs, type Reader } from '../options/reader.ts'

/** Options of one call, passed as `tokenlane` among the client's own options. */
export interface CallOptions {
  /**
   * Queued calls with a higher priority go first; calls with the same priority go in order. A whole number, may be
   * negative. No effect on an API without a rate policy.
   *
   * @defaultValue 0
   */
  readonly priority?: number | undefined
  /**
   * Whether the call may be sent again after a 401 (at most twice) or after one of the policy's
   * `limitedStatuses`. With `false` the caller gets that response; the token is still renewed and the API still pauses.
   *
   * @defaultValue what the API's own `resend` says for its method
   */
  readonly resend?: boolean | undefined
}

/** Reads a priority: below the largest whole number, which is kept for calls that were sent before. */
const readPriority: Reader<number> = (value, path) =>
  Number.isSafeInteger(value) && value !== Number.MAX_SAFE_INTEGER
    ? (value as number)
    : refuse(path, shape(value), 'a whole number')

const none: CallOptions = {}
const read = object<ReadAs<CallOptions, { priority: number | undefined; resend: boolean | undefined }>>({
  priority: optional(readPriority),
  resend: optional(flag),
})

/**
 * Returns the options of one call, as they came through the client.
 *
 * @throws TokenlaneError `INVALID_OPTIONS`, naming the option and what is allowed.
 */
export function checkCallOptions(value: unknown): CallOptions {
  return value === undefined ? none : refusingTo('send call', () => read(value, 'tokenlane'))
}

/** @throws TokenlaneError `INVALID_OPTIONS` */
export function checkPriority(priority: unknown): void {
  refusingTo('send call', () => readPriority(priority, 'priority'))
}
