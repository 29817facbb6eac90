import type { Emit } from '../events.ts'
import type { Grant } from './token-source.ts'

/** Says what is unusual about the tokens of one issuer, and which scopes they lack: once, and again when it changes. */
export function tokenNotices(issuer: string, emit: Emit) {
  let missing: readonly string[] = []
  let said = ''
  return {
    /** The scopes that the last token lacks. */
    missingScopes: (): readonly string[] => missing,
    note<T extends Grant>(grant: T): T {
      const { oddities = [], missingScopes = [], duration } = grant
      missing = missingScopes
      // another process made the request, and has said so
      if (duration === undefined) return grant
      const news = JSON.stringify([oddities, missing])
      if (news === said) return grant
      said = news
      if (oddities.length > 0) emit({ type: 'token.unusual', issuer, oddities })
      if (missing.length > 0) emit({ type: 'scope.narrowed', issuer, missing })
      return grant
    },
  }
}
