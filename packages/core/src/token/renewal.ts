import { closedError, isTokenlaneError, type TokenlaneError } from '../errors.ts'
import type { TokenSource, Wait } from '../issuer/token-source.ts'
import { AccessToken } from './access-token.ts'
import type { HeldToken } from './held-token.ts'
import { firstRetry, type RenewalBackoff, retryDelay } from './renewal-backoff.ts'
import { reportFailure, type Reporting, reportToken } from './renewal-events.ts'
import type { SingleFlight } from './single-flight.ts'

/** A renewal that begins with a wait, after an earlier one failed. */
export interface Retry {
  readonly delay: number
  readonly after: TokenlaneError
}

/** What all renewals of one issuer's token share. */
export interface Renewed {
  readonly source: TokenSource
  readonly held: HeldToken
  readonly backoff: RenewalBackoff
  readonly reporting: Reporting
}

/**
 * One renewal: tries until there is a token, for as long as calls wait for it and another try may end otherwise.
 *
 * @throws TokenlaneError what the last try failed with.
 */
export async function renew(
  renewed: Renewed,
  flight: SingleFlight,
  retry: Retry | undefined,
): Promise<AccessToken> {
  const { source, held } = renewed
  const reason = held.reason()
  const wait = waitOf(renewed, flight)
  if (retry !== undefined) await pauseBeforeTry(renewed, flight, retry)
  for (let tries = 1; ; tries += 1) {
    try {
      const grant = await source.obtain(reason, wait)
      const token = held.use(grant)
      renewed.backoff.succeeded()
      reportToken(renewed.reporting, grant, token.expiresAt, reason, flight.joiners)
      return token
    } catch (error) {
      const delay = delayOf(renewed, flight, error, tries)
      if (delay === undefined) throw failed(renewed, flight, error)
      report(renewed, error as TokenlaneError, delay)
      await pauseBeforeTry(renewed, flight, { delay, after: error as TokenlaneError })
    }
  }
}

/** Waits before the next try; throws the error of the one before if no call waits for the next one any more. */
async function pauseBeforeTry(
  renewed: Renewed,
  flight: SingleFlight,
  { delay, after }: Retry,
): Promise<void> {
  await flight.delay(delay)
  if (flight.awaited && !flight.isStopped) return
  if (after !== renewed.backoff.last?.error) remember(renewed, flight, after)
  throw after
}

/** Returns how long to wait before the next try; `undefined` if there must be none. */
function delayOf({ held }: Renewed, flight: SingleFlight, error: unknown, tries: number): number | undefined {
  if (!isTokenlaneError(error) || !flight.awaited || flight.isStopped) return undefined
  // waiting calls are better served with the old token now than with a new one later
  if (held.unexpired() !== undefined) return undefined
  const delay = retryDelay(error, tries)
  if (delay === undefined) return undefined
  // a try with hardly any time left would only hide the reason behind a timeout
  return delay + firstRetry < flight.timeLeft ? delay : undefined
}

/** Remembers and reports the failure that ends a renewal. */
function failed(renewed: Renewed, flight: SingleFlight, error: unknown): unknown {
  // a refusal that was only remembered is not another failure
  if (!isTokenlaneError(error) || error === renewed.backoff.last?.error) return error
  report(renewed, error, remember(renewed, flight, error))
  return error
}

/** Remembers the failure of a renewal; returns how long it is too early for the next one, in milliseconds. */
function remember({ held, backoff }: Renewed, { awaited }: SingleFlight, error: TokenlaneError): number {
  const token = held.unexpired()
  if (token !== undefined) return backoff.failed(error, AccessToken.timeUntilOld(token))
  // calls that gave up early do not make the later ones fail at once
  return backoff.failed(error, awaited ? undefined : 0)
}

function report({ reporting, held }: Renewed, error: TokenlaneError, retryIn: number): void {
  reportFailure(reporting, error, retryIn, held.unexpired() !== undefined)
}

function waitOf({ held, reporting }: Renewed, flight: SingleFlight): Wait {
  return {
    get timeLeft() {
      return flight.timeLeft
    },
    get needed() {
      return flight.awaited && held.unexpired() === undefined
    },
    accepts: (grant) => held.wouldAccept(grant),
    pause: async (ms, early) => {
      if (!flight.isStopped) await flight.delay(ms, early)
      if (flight.isStopped) throw closedError(`issuer "${reporting.issuer}"`)
    },
  }
}
