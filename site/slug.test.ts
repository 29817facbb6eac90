import { expect, test } from 'vitest'
import { slugOf } from './slug.ts'

test.each([
  ['TOKEN_REQUEST_FAILED', 'token_request_failed'],
  ['There is no error, but', 'there-is-no-error-but'],
  ['bootstrap.ts', 'bootstrap-ts'],
  ['When it does not work?', 'when-it-does-not-work'],
  ['2.0', '_2-0'],
])('the anchor of %s is %s', (heading, anchor) => {
  expect(slugOf(heading)).toBe(anchor)
})
