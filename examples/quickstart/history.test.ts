import { expect, test } from 'vitest'
import { inWords } from './history.ts'

test.each([
  [0, 'no call waited'],
  [1, '1 call waited'],
  [2, '2 calls waited'],
])('a token that %i calls waited for is reported with "%s"', (joiners, told) => {
  const event = {
    issuer: 'general',
    expiresAt: new Date(),
    duration: 5.2,
    reason: 'ahead',
    joiners,
  } as const
  expect(inWords({ type: 'token.renewed', ...event })?.text).toBe(
    `general: new token before the old one ended, in 5 ms, ${told}`,
  )
})
