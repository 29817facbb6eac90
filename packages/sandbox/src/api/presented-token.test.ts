import { expect, test } from 'vitest'

import type { TokenState } from '../issuer/token-ledger.ts'
import type { LedgerEntry } from '../journal/entry.ts'
import { bearerToken, judgeToken } from './presented-token.ts'

const states: Record<string, TokenState> = { good: 'live', old: 'expired', taken: 'revoked' }
const entry: LedgerEntry = {
  name: 'general-1',
  lifetime: 1_000,
  issuedAt: 0,
  promisedUntil: 1_000,
  expiresAt: 1_000,
  revokedAt: undefined,
}

function refusalOf(authorization?: string) {
  const token = bearerToken(authorization)
  const state = states[token ?? '']
  const known = state && { issuer: 'general' as const, entry, state }
  return judgeToken(token, known, { realm: 'general', now: 500, reachedAt: 500 }).refusal
}

test('a live token is not refused, however the scheme is spelt', () => {
  expect(refusalOf('Bearer good')).toBeUndefined()
  expect(refusalOf('bearer  good')).toBeUndefined()
})

test.each([undefined, '', 'Bearer', 'Bearer ', 'Basic Z29vZA=='])('%j brings no token', (authorization) => {
  const refusal = refusalOf(authorization)
  expect(refusal?.status).toBe(401)
  expect(refusal?.headers?.['www-authenticate']).toBe('Bearer')
})

test.each([
  ['Bearer old', 'The access token expired'],
  ['Bearer taken', 'The access token was revoked'],
  ['Bearer other', "The access token is not from this API's issuer"],
  ['Bearer good good', "The access token is not from this API's issuer"],
])('%j is an invalid token', (authorization, detail) => {
  const refusal = refusalOf(authorization)
  expect(refusal?.status).toBe(401)
  expect(refusal?.headers?.['www-authenticate']).toBe('Bearer error="invalid_token"')
  expect(JSON.parse(refusal?.body ?? '')).toEqual({ title: 'Unauthorized', status: 401, detail })
})
