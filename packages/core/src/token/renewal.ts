import { closedError, isTokenlaneError, reasonOf, type TokenlaneError } from '../errors.ts'
import { printable } from '../foreign-text.ts'
import { defined, type Emit } from '../events.ts'
import type { TokenSource, Wait } from '../issuer/token-source.ts'
import { AccessToken } from './access-token.ts'
import type { HeldToken } from './held-token.ts'
import { firstRetry, type RenewalBackoff, retryDelay } from './renewal-backoff.ts'
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
  readonly emit: Emit
}

/**
 * Renews an issuer's token: tries until there is one, for as long as calls wait for it and another try may end otherwise.
 *
 * @param first set if the renewal begins with a wait, after an earlier one failed.
 * @throws TokenlaneError what the last try failed with.
 */
export async function renew(renewed: Renewed, flight: SingleFlight, first?: Retry): Promise<AccessToken> {
  const { source, held, backoff, issuer, emit } = renewed
  const reason = held.reason()
  const wait = waitOf(renewed, flight)
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
        if (error !== backoff.last?.error) report(error, remember(error, renewed, flight), renewed)
        throw error
      }
      report(error, delay, renewed)
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

/** Reports why there is no new token, and when the next try comes. */
function report(error: TokenlaneError, retryIn: number, { issuer, endpoint, held, emit }: Renewed): void {
  const { code, status, oauthError, transportCode } = error
  const reason = reasonOf(error).replace(/^Cannot obtain token: /, '')
  const tokenStillValid = held.unexpired() !== undefined
  const details = defined({ status, oauthError, transportCode })
  emit?.({ type: 'renewal.failed', issuer, code, endpoint, ...details, reason, retryIn, tokenStillValid })
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
