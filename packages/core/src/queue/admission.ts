import { TokenlaneError } from '../errors.ts'
import type { CheckedPolicy } from './rate-policy.ts'

/** What a call that is to be queued would wait for. */
export interface Backlog {
  readonly queued: number
  /** Returns how many queued calls go before it. */
  readonly ahead: () => number
  readonly freeSlots: number
  /** Returns the milliseconds until that many calls may be sent, by the limits alone. */
  readonly forecast: (calls: number) => number
}

/**
 * Refuses a call that would be one too many, or that by the limits alone would wait too long.
 *
 * @throws TokenlaneError `QUEUE_FULL` or `QUEUE_TIMEOUT`.
 */
export function mustHaveRoom(
  api: string,
  { maxQueued, maxWait }: CheckedPolicy,
  { queued, ahead, freeSlots, forecast }: Backlog,
): void {
  const tooMany = queued + 1 - maxQueued
  const onlyNeedToken = tooMany <= freeSlots && forecast(tooMany) === 0
  if (tooMany > 0 && !onlyNeedToken)
    throw new TokenlaneError(
      'QUEUE_FULL',
      `Cannot queue call to ${api}: the queue is full; \`maxQueued\` in the API's rate policy is ${maxQueued}`,
    )
  if (maxWait === undefined) return
  const wait = forecast(ahead() + 1)
  if (wait > maxWait) throw waitedTooLong(api, maxWait, `must wait at least ${Math.ceil(wait)} ms`)
}

/** Returns the error of a call that waits longer than it may. */
export function waitedTooLong(api: string, maxWait: number, what = 'waited too long'): TokenlaneError {
  return new TokenlaneError(
    'QUEUE_TIMEOUT',
    `Cannot send call to ${api}: it ${what}; \`maxWait\` in the API's rate policy is ${maxWait} ms`,
  )
}
