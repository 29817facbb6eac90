import { describe, expect, onTestFinished, test } from 'vitest'
import { clients } from './clients.ts'
import { createTokens } from './manager.ts'

/** What a tool sees: token requests, and the `Authorization` headers of calls. */
export class Seen {
  tokenRequests = 0
  readonly tokens: unknown[] = []

  /** Returns the response to a token request: `token-1`, then `token-2`. */
  tokenResponse(): object {
    this.tokenRequests += 1
    return { access_token: `token-${this.tokenRequests}`, token_type: 'Bearer', expires_in: 3600 }
  }

  /** Returns the status for a call: the first one is refused. */
  status(authorization: unknown): number {
    this.tokens.push(authorization)
    return this.tokens.length === 1 ? 401 : 200
  }
}

/** Proves that a tool sees two calls of these clients, the first of which is sent twice, and the token requests. */
export function seesTheCallsOf(names: readonly string[], start: () => Seen): void {
  describe.each(names)('the calls of %s', (name) => {
    test('come with their tokens, and after a 401 with the next one', async () => {
      const seen = start()
      const tokens = createTokens()
      onTestFinished(() => tokens.close())
      const client = clients[name]?.(tokens)
      await client?.('https://api.example.com/records')
      await client?.('https://api.example.com/records')
      expect(seen.tokens).toEqual(['Bearer token-1', 'Bearer token-2', 'Bearer token-2'])
      expect(seen.tokenRequests).toBe(2)
    })
  })
}
