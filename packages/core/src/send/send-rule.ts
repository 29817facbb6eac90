import type { Attempt, Pass, Report, Verdict } from './api.ts'

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
      if (judge(exchange) === 'final') {
        const result = exchange.follow === undefined ? exchange.result : await exchange.follow(pass)
        pass.release()
        return result
      }
      try {
        await exchange.discard()
      } catch {
        // the response is unwanted, and so is its failure
      }
      pass = await pass.next()
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
