import type { InternalAxiosRequestConfig } from 'axios'

import { redirectRule, type RedirectContext } from './redirect-rule.ts'
import { scrub } from './scrub.ts'
import type { Target } from './target.ts'

/** What an attempt is sent with, beside the caller's configuration. */
export interface AttemptContext extends Omit<RedirectContext, 'given'> {
  readonly target: Target
  /** Whether axios sends it with `fetch`. */
  readonly viaFetch: boolean
}

/** One attempt: its configuration, and how to take the token off its outcome. */
export interface Attempt {
  readonly config: InternalAxiosRequestConfig
  /** Puts the caller's configuration, without the token, in place of the attempt's. */
  clean<T>(outcome: T): T
  /** Returns the status to report in place of the response's, where the token did not go all the way. */
  judgedBy(): number | undefined
}

/** Copies the caller's configuration, with the token, for the adapter and nothing else. */
export function createAttempt(
  given: InternalAxiosRequestConfig,
  { target, viaFetch, ...context }: AttemptContext,
): Attempt {
  const { beforeRedirect, judgedBy } = redirectRule({ ...context, given: given.beforeRedirect })
  // `concat` makes new headers; setting a field would change the caller's
  const headers = given.headers.concat({ Authorization: context.authorization })
  const config = Object.assign(copyOf(given), target, { headers, beforeRedirect })
  // fetch shows no redirect before it follows it
  if (viaFetch && followsInFetch(given)) config.maxRedirects = 0
  return { config, judgedBy, clean: (outcome) => scrub(outcome, { sent: config, given }) }
}

/** Copies without a prototype, as axios does, against polluted ones. Spreading that would cost three times as much. */
function copyOf(given: InternalAxiosRequestConfig): InternalAxiosRequestConfig {
  const from = given as unknown as Record<PropertyKey, unknown>
  const copy = Object.create(null) as Record<PropertyKey, unknown>
  for (const name of Object.keys(from)) copy[name] = from[name]
  for (const symbol of Object.getOwnPropertySymbols(from)) copy[symbol] = from[symbol]
  return copy as unknown as InternalAxiosRequestConfig
}

function followsInFetch({ fetchOptions }: InternalAxiosRequestConfig): boolean {
  const redirect: unknown = (fetchOptions as { redirect?: unknown } | undefined)?.redirect
  return redirect === undefined || redirect === 'follow'
}
