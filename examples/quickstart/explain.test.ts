import { expect, test } from 'vitest'

import { explain, mostTries, needlessRequests } from './explain.ts'
import { createHistory, type History } from './history.ts'

const lifetime = 2_000
const asked = (...times: number[]): History['renewals'] =>
  times.map((askedAt, index) => ({ askedAt, reason: index === 0 ? 'startup' : 'ahead' }))
const counts = (issued: number, more = {}) => ({ requests: issued, issued, failed: 0, refused: 0, ...more })

test('a token in the last tenth of its life may be renewed, one that is younger may not', () => {
  const needs = (at: number) => explain({ ...createHistory(), renewals: asked(0, at) }, lifetime)
  expect(needs(1_800)).toEqual(['startup', 'expiry'])
  expect(needs(1_790)).toEqual(['startup', undefined])
  expect(needs(9_000)).toEqual(['startup', 'expiry'])
})

test('a revocation makes one new token necessary, not two', () => {
  const history = { ...createHistory(), revokedAt: [500], renewals: asked(0, 510, 520) }
  expect(explain(history, lifetime)).toEqual(['startup', 'revocation', undefined])
  expect(needlessRequests(history, counts(3), lifetime)).toEqual([
    'token 3 was requested (ahead) when the previous one was 10 ms old',
  ])
})

test('an outage of 2 s may meet six requests, and not a seventh', () => {
  expect(mostTries(2_000)).toBe(6)
  const history = { ...createHistory(), renewals: asked(0), outages: [2_000] }
  const failed = (times: number) =>
    needlessRequests({ ...history, failures: times }, counts(1, { failed: times }), lifetime)
  expect(failed(6)).toEqual([])
  expect(failed(7)).toEqual(['7 requests failed in the outage, at most 6 may'])
})

test('one request with the old secret may be refused for each rotation', () => {
  const history = { ...createHistory(), renewals: asked(0), secretRotations: 1 }
  expect(needlessRequests(history, counts(1, { refused: 1 }), lifetime)).toEqual([])
  expect(needlessRequests(history, counts(1, { refused: 2 }), lifetime)).toEqual(['2 requests were refused'])
})

test('a token that only the issuer knows of is needless', () => {
  const history = { ...createHistory(), renewals: asked(0) }
  expect(needlessRequests(history, counts(2), lifetime)).toEqual([
    '2 tokens were issued, Tokenlane reports 1',
  ])
})
