import { TokenlaneError } from '../errors.ts'
import { outliveRequest } from '../runtime/request-bound.ts'
import type { AccessToken } from './access-token.ts'

/** How often a renewal shows that its incoming request still runs, and how long without a sign it counts as lost, in milliseconds. */
const signInterval = 100
const longestSilence = 1_000
/** How often a call looks how the renewal of another incoming request ends, in milliseconds. */
const lookInterval = 10

/**
 * Shares a renewal in a runtime that ends timers, requests and waits together with the incoming request that began them:
 * calls of other requests cannot wait for the renewal itself, so they look how it ends, by timers of their own.
 * A renewal is lost if its request has ended, so that it never ends itself.
 *
 * @throws TokenlaneError `RUNTIME_UNSUPPORTED` where no request is under way.
 */
export function shareAcrossRequests(result: Promise<AccessToken>): {
  join: () => Promise<AccessToken>
  isLost: () => boolean
} {
  let seenAt = performance.now()
  let outcome: PromiseSettledResult<AccessToken> | undefined
  // the timer ends with the request, and nothing else says so; it comes first, since it says where no request is
  const timer = startTimer(() => (seenAt = performance.now()))
  const kept = outliveRequest(result)
  void Promise.allSettled([result])
    .then(([settled]) => (outcome = settled))
    .finally(() => clearInterval(timer))
  let hasBegun = false
  // what joins before is the call that began the renewal
  queueMicrotask(() => (hasBegun = true))
  const isUnderWay = (): boolean => outcome === undefined && performance.now() - seenAt <= longestSilence
  return {
    isLost: () => outcome === undefined && !isUnderWay(),
    async join() {
      if (!hasBegun) return kept
      while (isUnderWay()) await new Promise((look) => setTimeout(look, lookInterval))
      if (outcome?.status === 'fulfilled') return outcome.value
      // of a lost one, another is due
      throw outcome?.reason ?? new Error('The request that renewed the token has ended')
    },
  }
}

function startTimer(sign: () => void): ReturnType<typeof setInterval> {
  try {
    return setInterval(sign, signInterval)
  } catch {
    throw new TokenlaneError(
      'RUNTIME_UNSUPPORTED',
      'Cannot obtain token: this runtime allows timers and requests only while it handles an event, not while it ' +
        'loads modules; make the call in a handler',
    )
  }
}
