import { TokenlaneError, withMore } from '../errors.ts'
import { Countdown } from '../time/countdown.ts'
import type { TokenWait } from './api.ts'
import type { Refusing } from './rejections.ts'

interface Waiting {
  readonly api: Pick<Refusing, 'baseUrl' | 'issuer' | 'token'>
  readonly signal: AbortSignal | undefined
  /** Returns a function that measures how long the call has waited for a token since now, in milliseconds. */
  readonly start: () => () => number
}

/**
 * Calls `enter`, and ends its wait for a token when the client's own timeout says so: by a signal, so that the renewal goes
 * on for other calls. The wait for a turn does not count.
 */
export function withinTokenWait<T>(
  { ms, error }: TokenWait,
  { api, signal, start }: Waiting,
  enter: (signal: AbortSignal) => T | Promise<T>,
): T | Promise<T> {
  const controller = new AbortController()
  const entered = enter(controller.signal)
  if (!(entered instanceof Promise)) return entered
  const abort = (): void => controller.abort(signal?.reason)
  let countdown: Countdown | undefined
  const look = (left: number): void => {
    if (left < 1) return controller.abort(error(tokenTimeout(api, ms)))
    const began = performance.now()
    const waited = start()
    countdown = new Countdown(left, () => {
      const frozen = Math.max(0, performance.now() - began - left)
      look(left - Math.max(0, waited() - frozen))
    })
  }
  look(ms)
  signal?.addEventListener('abort', abort, { once: true })
  return entered.finally(() => {
    countdown?.stop()
    signal?.removeEventListener('abort', abort)
  })
}

function tokenTimeout({ baseUrl, issuer, token }: Waiting['api'], ms: number): TokenlaneError {
  const failed = token.failure?.error
  if (failed !== undefined) return withMore(failed, `; the client's timeout ended the wait after ${ms} ms`)
  const reason = `Cannot get token: issuer "${issuer}" has sent none within ${ms} ms, the client's timeout`
  return new TokenlaneError('TOKEN_REQUEST_TIMEOUT', reason, { api: baseUrl, issuer })
}
