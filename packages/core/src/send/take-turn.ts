import { closedError } from '../errors.ts'
import type { ApiQueue } from '../queue/api-queue.ts'
import type { Turn } from '../queue/queued-calls.ts'
import { waitsBetween } from '../queue/waiting-time.ts'
import type { AccessToken } from '../token/access-token.ts'
import type { AdmitOptions } from './api.ts'
import type { CallRecord } from './call-record.ts'
import type { CallsUnderWay } from './calls-under-way.ts'
import type { Refused } from './forced-renewals.ts'

/** What the calls of one API share. */
export interface CallContext extends Refused {
  /** `undefined` without a rate policy: then calls wait for a token only. */
  readonly queue: ApiQueue | undefined
  /** Whether calls may be sent again, or the methods of those that may. */
  readonly resend: boolean | readonly string[]
  readonly callsUnderWay: CallsUnderWay
}

/**
 * Returns what a call is sent with, without a promise where nothing has to be waited for. The call is counted as under
 * way, also after a throw: `leaveUnsent`, or a pass, ends that.
 *
 * @param wasSent whether the call has been sent before.
 */
export function enter(
  api: CallContext,
  options: AdmitOptions,
  record: CallRecord | undefined,
  wasSent = false,
): Turn | AccessToken | Promise<Turn | AccessToken> {
  // counted first: an observer of what follows may close the manager
  api.callsUnderWay.entered()
  const isUnderWay = wasSent || options.sentBefore === true
  if (options.signal?.aborted === true && !isUnderWay) options.validate?.()
  options.signal?.throwIfAborted()
  if (api.callsUnderWay.closed && !isUnderWay) throw closedError(api.baseUrl)
  return takeTurn(api, options, isUnderWay, record)
}

/** Ends a call for which there was no pass. */
export function leaveUnsent(api: CallContext, record: CallRecord | undefined, error: unknown): void {
  api.callsUnderWay.left()
  record?.finish(error)
}

function mustBeValid(options: AdmitOptions, queue: ApiQueue | undefined): void {
  try {
    options.validate?.()
  } catch (error) {
    queue?.turnedAway()
    throw error
  }
}

/** Returns the signal that ends a wait of the call. */
export function waitSignalOf(options: AdmitOptions): AbortSignal | undefined {
  return options.waitSignal?.() ?? options.signal ?? undefined
}

/** Returns slot, token and permit where the API has a rate policy; else the token alone. */
function takeTurn(
  { queue, token }: CallContext,
  options: AdmitOptions,
  isUnderWay: boolean,
  record: CallRecord | undefined,
): Turn | AccessToken | Promise<Turn | AccessToken> {
  const { priority = 0 } = options
  const now = queue === undefined ? token.live() : queue.enterNow(priority)
  if (now !== undefined) return now
  if (!isUnderWay) mustBeValid(options, queue)
  const signal = waitSignalOf(options)
  if (queue === undefined) {
    const waiting = token.wait(signal)
    return record ? record.timeToken(waiting) : waiting
  }
  const before = record && queue.waits()
  const turn = queue.enter({ signal, priority, resend: isUnderWay })
  if (before === undefined) return turn
  return turn.finally(() => record?.addWaits(waitsBetween(before, queue.waits())))
}
