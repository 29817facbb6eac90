import { expect, test } from 'vitest'
import { refusedByDefault, refusesToken } from './bearer-challenge.ts'

test.each([
  undefined,
  null,
  '',
  'Bearer',
  'Bearer realm="api"',
  'Bearer error="invalid_token"',
  'bearer realm="a, b", error="invalid_token", error_description="The token expired"',
  'Basic realm="x", Bearer error=invalid_token',
  'Bearer error_description="no \\"error = expired\\"", error="invalid_token"',
  'Bearer realm="api", DPoP algs="ES256", error="use_dpop_nonce"',
  'Bearer error="INVALID_TOKEN',
  "Bearer error='invalid_token'",
  'Bearer error=""',
  'Bearer error="expired_token"',
  'Bearer realm="api", error=token_expired, error_description="insufficient_scope"',
  'Bearer error="something new"',
])('%j says that the token was refused', (challenge) => {
  expect(refusesToken({ status: 401, wwwAuthenticate: challenge }, refusedByDefault)).toBe(true)
})

test.each([
  'Basic realm="api"',
  'Bearer error="insufficient_scope"',
  'Bearer error="invalid_request"',
  'Bearer error="insufficient_user_authentication", acr_values="myACR"',
  'Bearer authorization_uri="https://login.example.com/", error="insufficient_claims", claims="eyJ9"',
  "Bearer error='INSUFFICIENT_SCOPE'",
  'Bearer realm="api"; error="insufficient_scope"',
  'Basic realm="open to a, bearer of this"',
  'Negotiate abc==, Basic realm="x"',
  'DPoP',
])('%j says something else', (challenge) => {
  expect(refusesToken({ status: 401, wwwAuthenticate: challenge }, refusedByDefault)).toBe(false)
})

test('no other status says so', () => {
  expect(
    refusesToken({ status: 403, wwwAuthenticate: 'Bearer error="invalid_token"' }, refusedByDefault),
  ).toBe(false)
})
