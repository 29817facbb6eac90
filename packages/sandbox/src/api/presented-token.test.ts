import { expect, test } from 'vitest'

import { refuseToken } from './presented-token.ts'
import type { TokenState } from '../issuer/token-ledger.ts'

const states: Record<string, TokenState> = { good: 'live', old: 'expired', taken: 'revoked' }
const judge = (authorization?: string) =>
  refuseToken(authorization, async (token) => states[token] ?? 'unknown')

test('a live token is not refused, however the scheme is spelt', async () => {
  expect(await judge('Bearer good')).toBeUndefined()
  expect(await judge('bearer  good')).toBeUndefined()
})

test.each([undefined, '', 'Bearer', 'Bearer ', 'Basic Z29vZA=='])(
  '%j brings no token',
  async (authorization) => {
    const refusal = await judge(authorization)
    expect(refusal?.status).toBe(401)
    expect(refusal?.headers?.['www-authenticate']).toBe('Bearer')
  },
)

test.each([
  ['Bearer old', 'The access token expired'],
  ['Bearer taken', 'The access token was revoked'],
  ['Bearer other', "The access token is not from this API's issuer"],
  ['Bearer good good', "The access token is not from this API's issuer"],
])('%j is an invalid token', async (authorization, detail) => {
  const refusal = await judge(authorization)
  expect(refusal?.status).toBe(401)
  expect(refusal?.headers?.['www-authenticate']).toBe('Bearer error="invalid_token"')
  expect(JSON.parse(refusal?.body ?? '')).toEqual({ title: 'Unauthorized', status: 401, detail })
})
