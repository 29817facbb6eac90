import type { Options } from 'ky'

/** ky's own, in milliseconds. */
const usual = 10_000

const longest = 2_147_483_647

/**
 * The `timeout` of a call: a number for ky, which is 0 once the wait for a token has taken that long. ky makes its
 * TimeoutError where its own timer fires, and shows the class nowhere else, so only so the error is one of the caller's
 * copy of ky. ky takes the number when it starts the timer, after the wait.
 */
class Timeout extends Number {
  isOver = false;

  [Symbol.toPrimitive](): number {
    return this.isOver ? 0 : this.valueOf()
  }
}

export function prepareTimeout(options: Options): void {
  const { timeout = usual } = options
  // what ky refuses, or takes for no timeout, stays
  if (typeof timeout === 'number' && timeout <= longest) options.timeout = new Timeout(timeout) as never
}

/** Returns the call's `timeout` in milliseconds, `undefined` without one. */
export function timeoutOf({ timeout = usual }: Options): number | undefined {
  return timeout === false ? undefined : timeout.valueOf()
}

/** Makes ky's timer fire at once for the next attempt, or go on. A `timeout` that a later hook has set runs once more. */
export function endTimeout({ timeout }: Options, isOver: boolean): void {
  if ((timeout as unknown) instanceof Timeout) (timeout as unknown as Timeout).isOver = isOver
}
