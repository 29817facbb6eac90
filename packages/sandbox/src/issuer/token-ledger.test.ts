import { beforeEach, expect, test } from 'vitest'

import { TokenLedger } from './token-ledger.ts'

let at: number
let ledger: TokenLedger

const stateOf = (id: string) => ledger.stateOf(ledger.entryOf(id)!)

beforeEach(() => {
  at = 10_000
  ledger = new TokenLedger(1_500, () => at)
  ledger.issue('token')
})

test('a token lives until the last moment of its lifetime', () => {
  at += 1_499.999
  expect(stateOf('token')).toBe('live')
})

test('a token is expired at the end of its lifetime', () => {
  at += 1_500
  expect(stateOf('token')).toBe('expired')
})

test('a token that was never issued is unknown', () => {
  expect(ledger.entryOf('other')).toBeUndefined()
})

test('a new lifetime is for tokens issued from then on', () => {
  ledger.lifetime = 60_000
  ledger.issue('longer')
  at += 1_500
  expect(stateOf('token')).toBe('expired')
  expect(stateOf('longer')).toBe('live')
  expect(ledger.entryOf('token')?.lifetime).toBe(1_500)
  expect(ledger.entryOf('longer')?.lifetime).toBe(60_000)
})

test('expiring all ends the tokens issued until now, and no later one', () => {
  ledger.expireAll()
  ledger.issue('later')
  expect(stateOf('token')).toBe('expired')
  expect(stateOf('later')).toBe('live')
})

test('revoking all says "revoked" even of a token that expires later', () => {
  ledger.revokeAll()
  ledger.issue('later')
  at += 1_500
  expect(stateOf('token')).toBe('revoked')
  expect(stateOf('later')).toBe('expired')
})
