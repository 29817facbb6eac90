import { shape } from '../options/check.ts'
import { TokenlaneError } from '../errors.ts'

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
   * Whether the call may be sent again after a 401, or after a status that says that the limit was passed. With
   * `false` that response is the caller's; the token is renewed and the API pauses all the same.
   *
   * @defaultValue what the API's own `resend` says of its method
   */
  readonly resend?: boolean | undefined
}

const none: CallOptions = {}
const names: readonly string[] = Object.keys({ priority: 0, resend: 0 } satisfies Record<
  keyof CallOptions,
  0
>)

/**
 * Returns the options of one call, as they came through the client.
 *
 * @throws TokenlaneError `INVALID_OPTIONS`, naming the option and what is allowed.
 */
export function checkCallOptions(value: unknown): CallOptions {
  if (value === undefined) return none
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    refuse('tokenlane', shape(value), `an object with ${names.join(', ')}`)
  for (const key of Object.keys(value))
    if (!names.includes(key)) refuse(`tokenlane.${key}`, 'not an option', names.join(', '))
  const { priority, resend } = value as CallOptions
  checkPriority(priority, 'tokenlane.priority')
  if (resend !== undefined && typeof resend !== 'boolean')
    refuse('tokenlane.resend', shape(resend), 'true or false')
  return value
}

/** @throws TokenlaneError `INVALID_OPTIONS` */
export function checkPriority(priority: unknown, path: string): void {
  if (priority === undefined) return
  // below the largest, which is kept for calls that are sent again
  if (!Number.isSafeInteger(priority) || priority === Number.MAX_SAFE_INTEGER)
    refuse(path, shape(priority), 'a whole number')
}

function refuse(path: string, given: string, allowed: string): never {
  throw new TokenlaneError(
    'INVALID_OPTIONS',
    `Cannot send call: \`${path}\` is ${given}; allowed: ${allowed}`,
  )
}
