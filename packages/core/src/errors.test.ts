import { expect, test } from 'vitest'
import { TokenlaneError } from './errors.ts'

test('an error has only the fields that are known of it, so that it prints no others', () => {
  expect(Object.keys(new TokenlaneError('QUEUE_FULL', 'Cannot queue call: 10 wait'))).not.toContain('status')
  expect(
    Object.keys(new TokenlaneError('TOKEN_REQUEST_REFUSED', 'Cannot obtain token', { status: 401 })),
  ).toEqual(expect.not.arrayContaining(['issuer', 'oauthError', 'retryAfter']))
})
