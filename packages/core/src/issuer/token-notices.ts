import type { Emit } from '../events.ts'
import type { Grant } from './token-source.ts'

/** Reports oddities and missing scopes of one issuer's tokens: once, and again when they change. */
export function tokenNotices(issuer: string, emit: Emit) {
  let missing: readonly string[] = []
  let said = ''
  return {
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
