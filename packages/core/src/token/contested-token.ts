import type { Emit } from '../events.ts'

/** How many tokens must end so within a minute to be reported. */
const suspicious = 8
const minute = 60_000

/**
 * Notices that something else ends the tokens of one issuer, again and again: each was accepted, and refused within a
 * second after it was requested. So it is if the issuer keeps one live token for each client, and several processes
 * request their own.
 */
export function contestedToken(issuer: string, emit: Emit) {
  /** When the last tokens ended, on the monotonic clock: at most as many as are suspicious. */
  let endedAt: readonly number[] = []
  /** Whether it happened often in the last minute. */
  const isContested = (): boolean => (endedAt.at(-suspicious) ?? -Infinity) > performance.now() - minute
  return {
    isContested: (): boolean => isContested(),
    /** Notes that an API refused a token that it had accepted, before another renewal was due. */
    ended(api: string): void {
      const wasContested = isContested()
      endedAt = [...endedAt, performance.now()].slice(-suspicious)
      if (!wasContested && isContested()) emit({ type: 'token.contested', issuer, api })
    },
    /** Notes that an API refuses good tokens, which explains it as well. */
    disproved(): void {
      endedAt = []
    },
  }
}

export type ContestedToken = ReturnType<typeof contestedToken>
