import { TokenlaneError } from '../errors.ts'
import { outliveRequest } from '../runtime/request-bound.ts'
import type { AccessToken } from '../access-token.ts'

/** How often a renewal shows that its incoming request still runs, and how long without a sign it counts as lost, in milliseconds. */
const signInterval = 100
const longestSilence = 1_000
/** How often a call looks how the renewal of another incoming request ends, in milliseconds. */
const lookInterval = 10

/**
 * Shares a renewal in a runtime that ends timers and waits with the incoming request that began them: calls of other
 * requests look by timers of their own how it ends. It is lost if its request has ended before.
 *
 * @throws TokenlaneError `RUNTIME_UNSUPPORTED` where no request is under way.
 */
export function shareAcrossRequests(result: Promise<AccessToken>) {
  let seenAt = performance.now()
  let outcome: PromiseSettledResult<AccessToken> | undefined
  let timer: ReturnType<typeof setInterval>
  try {
    // it ends with the request, and nothing else says so
    timer = setInterval(() => (seenAt = performance.now()), signInterval)
  } catch {
    throw new TokenlaneError(
      'RUNTIME_UNSUPPORTED',
      'Cannot obtain token: edge runtimes allow that only in a handler',
    )
  }
  const kept = outliveRequest(result)
  void Promise.allSettled([result])
    .then(([settled]) => (outcome = settled))
    .finally(() => clearInterval(timer))
  let hasBegun = false
  // what joins before is the call that began the renewal
  queueMicrotask(() => (hasBegun = true))
  const isUnderWay = (): boolean => outcome === undefined && performance.now() - seenAt <= longestSilence
  return {
    isLost: (): boolean => outcome === undefined && !isUnderWay(),
    async join(): Promise<AccessToken> {
      if (!hasBegun) return kept
      while (isUnderWay()) await new Promise((look) => setTimeout(look, lookInterval))
      if (outcome?.status === 'fulfilled') return outcome.value
      // of a lost one, another is due
      throw outcome?.reason
    },
  }
}
