import { isClosed } from '../errors.ts'
import type { Attempt, Exchange, Pass, Report, Verdict } from './api.ts'

/**
 * The send rule: waits for a slot, makes sure of a live token, waits for a permit and sends; on a 401 renews and sends
 * again.
 *
 * A pass stands for slot, token and permit. It judges what the API responds, and knows the pass of the next attempt.
 */
export async function sendWith<T>(
  first: Pass,
  attempt: Attempt<T>,
  signal: AbortSignal | null | undefined,
): Promise<T> {
  let pass = first
  try {
    for (;;) {
      // the signal may have aborted since the pass came
      signal?.throwIfAborted()
      pass.sent()
      const judge = judgeOnce(pass)
      const exchange = await attempt(pass.authorization, judge)
      const next = judge(exchange) === 'again' ? await nextAfter(pass, exchange) : undefined
      if (next === undefined) {
        const result = exchange.follow === undefined ? exchange.result : await exchange.follow(pass)
        pass.release()
        return result
      }
      pass = next
    }
  } catch (error) {
    pass.release(error)
    throw error
  }
}

/** Returns how a response is judged, at its status or at its end: the first judgement stands. */
function judgeOnce(pass: Pass): (report: Report) => Verdict {
  let verdict: Verdict | undefined
  return (report) => (verdict ??= pass.report(report))
}

/** Waits for the pass of the next attempt, and drops the response to the one before, which is the caller's if there is none. */
async function nextAfter<T>(pass: Pass, exchange: Exchange<T>): Promise<Pass | undefined> {
  let next: Pass
  try {
    next = await pass.next()
  } catch (error) {
    // it was refused for a rate limit, and the manager closes
    if (isClosed(error)) return undefined
    await discard(exchange)
    throw error
  }
  await discard(exchange)
  return next
}

async function discard<T>(exchange: Exchange<T>): Promise<void> {
  try {
    await exchange.discard()
  } catch {
    // the response is unwanted, and so is its failure
  }
}
