import { errorForCaller, isClosed } from '../errors.ts'
import type { Attempt, Exchange, Pass } from './api.ts'

/**
 * The send rule: waits for a slot, makes sure of a live token, waits for a permit and sends; on a 401 renews and sends
 * again.
 *
 * A pass stands for slot, token and permit. It judges what the API responds, and knows the pass of the next attempt.
 */
export async function sendWith<T>(
  first: Pass | Promise<Pass>,
  attempt: Attempt<T>,
  signal: AbortSignal | null | undefined,
): Promise<T> {
  let pass: Pass
  try {
    // a call with nothing to wait for is sent in the turn that it is made in
    pass = first instanceof Promise ? await first : first
  } catch (shared) {
    throw errorForCaller(shared)
  }
  try {
    for (;;) {
      const sent = pass
      // the signal may have aborted since the pass came
      signal?.throwIfAborted()
      sent.sent()
      const exchange = await attempt(sent.authorization, (report) => sent.report(report))
      const next = sent.report(exchange) === 'again' ? await nextAfter(sent, exchange) : undefined
      if (next === undefined) {
        const result = exchange.follow === undefined ? exchange.result : await exchange.follow(sent)
        sent.release()
        return result
      }
      pass = next
    }
  } catch (error) {
    pass.release(error)
    throw error
  }
}

/** Waits for the next pass and drops the response; returns `undefined` if the response is the caller's after all. */
async function nextAfter<T>(pass: Pass, exchange: Exchange<T>): Promise<Pass | undefined> {
  let isLast = false
  try {
    return await pass.next()
  } catch (error) {
    // it was refused for a rate limit, and waited in vain
    isLast = isClosed(error)
    if (!isLast) throw error
    return undefined
  } finally {
    if (!isLast)
      try {
        await exchange.discard()
      } catch {
        // the response is unwanted, and so is its failure
      }
  }
}
