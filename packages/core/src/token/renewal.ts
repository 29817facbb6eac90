import { closedError, isTokenlaneError, reasonOf, type TokenlaneError, withMore } from '../errors.ts'
import { printable } from '../foreign-text.ts'
import { defined, type Emit } from '../events.ts'
import type { TokenSource, Wait } from '../issuer/token-source.ts'
import { AccessToken } from './access-token.ts'
import type { HeldToken } from './held-token.ts'
import {
  type Failure,
  firstRetry,
  isPermanent,
  type RenewalBackoff,
  retryDelay,
  untilNextTry,
} from './renewal-backoff.ts'
import type { SingleFlight } from './single-flight.ts'

/** A try after one that failed. */
export interface Retry {
  /** How long to wait before it, in milliseconds. */
  readonly delay: number
  readonly after: TokenlaneError
}

/** What all renewals of one issuer's token share. */
export interface Renewed {
  readonly source: TokenSource
  readonly held: HeldToken
  readonly backoff: RenewalBackoff
  /** Name of the issuer. */
  readonly issuer: string
  /** The token endpoint's URL without a query. */
  readonly endpoint: string
  /** How long a call waits at most, in milliseconds. */
  readonly maxWait: number
  readonly emit: Emit
}

/**
 * Renews an issuer's token: tries until there is one, for as long as calls wait for it and another try may end otherwise.
 *
 * @param first set if the renewal begins with a wait, after an earlier one failed.
 * @throws TokenlaneError what the last try failed with.
 */
export async function renew(renewed: Renewed, flight: SingleFlight, first?: Retry): Promise<AccessToken> {
  const { source, held, backoff, issuer, maxWait, emit } = renewed
  const reason = held.reason()
  const wait = waitOf(renewed, flight)
  const start = performance.now()
  let retry = first
  for (let tries = 1; ; tries += 1) {
    if (retry !== undefined) await pauseBefore(retry, renewed, flight)
    try {
      const grant = await source.obtain(reason, wait)
      const token = held.use(grant)
      backoff.succeeded()
      const { expiresAt } = token
      const { duration } = grant
      const { joiners } = flight
      if (duration === undefined) emit?.({ type: 'token.received', issuer, expiresAt })
      else emit?.({ type: 'token.renewed', issuer, expiresAt, duration, reason, joiners })
      return token
    } catch (error) {
      if (!isTokenlaneError(error)) throw error
      const delay = delayAfter(error, tries, renewed, flight)
      if (delay === undefined) {
        // a refusal that was only remembered is not another failure
        if (error === backoff.last?.error) throw error
        const last = isPermanent(error) ? error : afterTries(error, tries, performance.now() - start, maxWait)
        const retryIn = remember(last, renewed, flight)
        report(error, retryIn, renewed, untilNextTry(backoff.last as Failure, maxWait) === undefined)
        throw last
      }
      report(error, delay, renewed, false)
      retry = { delay, after: error }
    }
  }
}

/** Waits before a try; throws the error of the one before if no call waits for it any more. */
async function pauseBefore({ delay, after }: Retry, renewed: Renewed, flight: SingleFlight): Promise<void> {
  await flight.delay(delay)
  if (flight.awaited && !flight.isStopped) return
  if (after !== renewed.backoff.last?.error) remember(after, renewed, flight)
  throw after
}

/** Returns how long to wait before the next try; `undefined` if there must be none. */
function delayAfter(
  error: TokenlaneError,
  tries: number,
  { held }: Renewed,
  { awaited, isStopped, timeLeft }: SingleFlight,
): number | undefined {
  // waiting calls are better served with the old token now than with a new one later
  if (!awaited || isStopped || held.unexpired() !== undefined) return undefined
  const delay = retryDelay(error, tries)
  // a try with hardly any time left would only hide the reason behind a timeout
  return delay !== undefined && delay + firstRetry < timeLeft ? delay : undefined
}

/** Remembers the failure of the renewal; returns how long it is too early for the next one, in milliseconds. */
function remember(error: TokenlaneError, { held, backoff }: Renewed, flight: SingleFlight): number {
  const token = held.unexpired()
  if (token !== undefined) return backoff.failed(error, AccessToken.timeUntilOld(token))
  // calls that gave up early do not make the later ones fail at once
  return backoff.failed(error, flight.awaited ? undefined : 0)
}

/** Returns the error of calls that have waited for several tries. */
function afterTries(error: TokenlaneError, tries: number, span: number, maxWait: number): TokenlaneError {
  const times = tries === 1 ? '1 try' : `${tries} tries`
  const asked = error.retryAfter === undefined ? '' : ` (Retry-After: ${error.retryAfter} ms)`
  const why = `the next one${asked} would come too late for \`maxWait\` (${maxWait} ms)`
  return withMore(error, `; gave up after ${times} in ${Math.round(span)} ms: ${why}`)
}

/** Reports why there is no new token, when the next try comes, and what calls do until then. */
function report(
  error: TokenlaneError,
  retryIn: number,
  { issuer, endpoint, held, backoff, emit }: Renewed,
  callsFail: boolean,
): void {
  backoff.tryFailed()
  const { code, status, oauthError, transportCode } = error
  const reason = reasonOf(error).replace(/^Cannot obtain token: /, '')
  const tokenStillValid = held.unexpired() !== undefined
  const failFast = callsFail && !tokenStillValid
  const details = {
    ...defined({ status, oauthError, transportCode }),
    reason,
    retryIn,
    tokenStillValid,
    failFast,
  }
  emit?.({ type: 'renewal.failed', issuer, code, endpoint, ...details })
}

function waitOf({ held, issuer }: Renewed, flight: SingleFlight): Wait {
  return {
    get timeLeft() {
      return flight.timeLeft
    },
    get needed() {
      return flight.awaited && held.unexpired() === undefined
    },
    accepts: (grant) => held.wouldAccept(grant),
    async pause(ms, early) {
      if (!flight.isStopped) await flight.delay(ms, early)
      if (flight.isStopped) throw closedError(`issuer "${printable(issuer)}"`)
    },
  }
}
