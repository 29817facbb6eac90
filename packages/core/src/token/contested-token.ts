import type { Emit } from '../events.ts'

/** How many tokens must end so within a minute to be reported. */
const suspicious = 8
const minute = 60_000

/**
 * Notices that something else keeps ending the tokens of one issuer: each was accepted, and refused within a second after
 * it was requested. That happens if the issuer keeps one live token for each client, and several processes request one.
 */
export function contestedToken(issuer: string, emit: Emit) {
  /** When the last tokens ended, on the monotonic clock: at most as many as are suspicious. */
  let endedAt: readonly number[] = []
  const isContested = (): boolean => (endedAt.at(-suspicious) ?? -Infinity) > performance.now() - minute
  return {
    isContested: (): boolean => isContested(),
    /** Called when an API refuses a token that it had accepted, before another renewal was due. */
    ended(api: string): void {
      const wasContested = isContested()
      endedAt = [...endedAt, performance.now()].slice(-suspicious)
      if (!wasContested && isContested()) emit({ type: 'token.contested', issuer, api })
    },
    /** Called when an API turns out to refuse good tokens, which explains it as well. */
    disproved(): void {
      endedAt = []
    },
  }
}

export type ContestedToken = ReturnType<typeof contestedToken>
