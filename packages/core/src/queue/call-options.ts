import { refuse, shape } from '../options/check.ts'
import { refusingTo } from '../options/faults.ts'
import { flag, object, optional, type ReadAs, type Reader } from '../options/reader.ts'

/** Options of one call: `tokenlane` among the options that the client takes. */
export interface CallOptions {
  /**
   * A queued call of a higher priority goes before those of a lower one; equal ones go in order. A whole number, which
   * may be negative. Without effect on an API without a rate policy.
   *
   * @defaultValue 0
   */
  readonly priority?: number | undefined
  /**
   * Whether the call may be sent again after a 401, at most twice, or after a status that says that the limit was
   * passed. With `false` that response is the caller's; the token is renewed and the API pauses all the same.
   *
   * @defaultValue what the API's own `resend` says of its method
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
