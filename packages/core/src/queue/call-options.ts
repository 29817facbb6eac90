import { refusingTo } from '../options/check.ts'
import { fitting, flag, object, optional, type ReadAs } from '../options/reader.ts'
import { readPriority } from './queued-calls.ts'

/** Options of one call, passed as `tokenlane` among the client's own options. */
export interface CallOptions {
  /**
   * Queued calls with a higher priority are sent first; calls with the same priority, in order. A whole number; may be
   * negative. No effect on an API without a rate policy.
   *
   * @defaultValue 0
   */
  readonly priority?: number | undefined
  /**
   * Whether the call may be sent again after a 401 (once) or after one of the policy's
   * `limitedStatuses`. With `false` the caller gets that response; the token is still renewed and the API still pauses.
   *
   * @defaultValue what the API's own `resend` says for its method
   */
  readonly resend?: boolean | undefined
  /**
   * How many units of the API's limits the call takes, 0 or more. No effect on an API without a rate policy.
   *
   * @defaultValue what the `cost` of the rate policy says, else 1
   */
  readonly cost?: number | undefined
}

const none: CallOptions = { priority: undefined, resend: undefined, cost: undefined }
const everyObject = Object.prototype as { readonly tokenlane?: unknown }
const read = object<
  ReadAs<CallOptions, { priority: number | undefined; resend: boolean | undefined; cost: number | undefined }>
>({
  priority: optional(readPriority),
  resend: optional(flag),
  cost: optional(fitting<number>((value) => value >= 0 && value < Infinity, 'a number, 0 or more')),
})

/**
 * Returns the options of one call, as they came through the client.
 *
 * @throws TokenlaneError `INVALID_OPTIONS`, naming the option and what is allowed.
 */
export function checkCallOptions(value: unknown): CallOptions {
  // what other code has added to every object is no option of this call
  return value === undefined || value === everyObject.tokenlane
    ? none
    : refusingTo('send call', () => read(value, 'tokenlane'))
}
