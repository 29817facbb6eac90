import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { fakeService } from '../../test/fake-issuer.ts'

test('a token shows its value where `value` is read, and nowhere else', async () => {
  const { tokens } = fakeService()
  const before = Date.now()
  const token = await tokens.getToken('general')

  expect(token.value).toBe('token-1')
  expect(token.tokenType).toBe('Bearer')
  expect(token.issuer).toBe('general')
  expect(token.expiresAt.getTime()).toBeGreaterThanOrEqual(before + 3_600_000)
  expect(String(token)).toBe('[redacted]')
  expect(JSON.stringify({ token })).toBe('{"token":"[redacted]"}')
  for (const shown of [inspect(token), inspect({ token }, { depth: 12, showHidden: true, getters: true })])
    expect(shown).not.toContain('token-1')
  const all = inspect([tokens, tokens.route('https://api.example.com/'), tokens.status()], {
    depth: 12,
    showHidden: true,
  })
  expect(all).not.toContain('token-1')
  expect(all).not.toContain('secret-1')
})
