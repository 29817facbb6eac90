import { beforeEach, expect, test } from 'vitest'

import { createTokenLedger, type TokenLedger } from './token-ledger.ts'

let at: number
let ledger: TokenLedger

beforeEach(() => {
  at = 10_000
  ledger = createTokenLedger(1_500, () => at)
  ledger.issue('token')
})

test('a token lives until the last moment of its lifetime', () => {
  at += 1_499.999
  expect(ledger.stateOf('token')).toBe('live')
})

test('a token is expired at the end of its lifetime', () => {
  at += 1_500
  expect(ledger.stateOf('token')).toBe('expired')
})

test('a token that was never issued is unknown', () => {
  expect(ledger.stateOf('other')).toBe('unknown')
})

test('a new lifetime is for tokens issued from then on', () => {
  ledger.lifetime = 60_000
  ledger.issue('longer')
  at += 1_500
  expect(ledger.stateOf('token')).toBe('expired')
  expect(ledger.stateOf('longer')).toBe('live')
  expect(ledger.lifetimeOf('token')).toBe(1_500)
  expect(ledger.lifetimeOf('longer')).toBe(60_000)
})

test('expiring all ends the tokens issued until now, and no later one', () => {
  ledger.expireAll()
  ledger.issue('later')
  expect(ledger.stateOf('token')).toBe('expired')
  expect(ledger.stateOf('later')).toBe('live')
})

test('revoking all says "revoked" even of a token that expires later', () => {
  ledger.revokeAll()
  ledger.issue('later')
  at += 1_500
  expect(ledger.stateOf('token')).toBe('revoked')
  expect(ledger.stateOf('later')).toBe('expired')
})
