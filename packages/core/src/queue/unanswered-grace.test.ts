import { expect, test } from 'vitest'
import { createUnansweredGrace } from './unanswered-grace.ts'

test('the grace is 1 s until a round trip took longer, and at most 60 s', () => {
  const grace = createUnansweredGrace()
  expect(grace.ms).toBe(1_000)
  grace.sawRoundTrip(1_000)
  expect(grace.ms).toBe(1_000)
  grace.sawRoundTrip(3_000)
  expect(grace.ms).toBe(3_000)
  grace.sawRoundTrip(600_000)
  expect(grace.ms).toBe(60_000)
})

test('a grace that grew shrinks slowly: after one short round trip by a sixteenth of the difference', () => {
  const grace = createUnansweredGrace()
  grace.sawRoundTrip(17_000)
  grace.sawRoundTrip(1_000)
  expect(grace.ms).toBe(16_000)
  for (let calls = 0; calls < 200; calls += 1) grace.sawRoundTrip(10)
  expect(grace.ms).toBe(1_000)
})

test('a call without a response can lengthen the grace, and never shortens it', () => {
  const grace = createUnansweredGrace()
  grace.sawNoResponse(5_000)
  expect(grace.ms).toBe(5_000)
  for (let calls = 0; calls < 200; calls += 1) grace.sawNoResponse(100)
  expect(grace.ms).toBe(5_000)
})

test('a grace that is set neither grows nor shrinks, and may be 0', () => {
  for (const fixed of [0, 5_000]) {
    const grace = createUnansweredGrace(fixed)
    grace.sawRoundTrip(30_000)
    grace.sawNoResponse(30_000)
    expect(grace.ms).toBe(fixed)
  }
})
