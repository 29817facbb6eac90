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
  // Django, Rails, SAP, Azure API Management, IIS: what they ask for whatever they refused
  'Basic realm="api"',
  'Basic realm="open to a, bearer of this"',
  'Token realm="Application"',
  'JWT realm="api"',
  'ApiKey realm="api", error="insufficient_scope"',
  'AzureApiManagementKey realm="https://api.example.com/",name="Ocp-Apim-Subscription-Key",type="header"',
  'Negotiate abc==, Basic realm="x"',
  'Negotiate, NTLM',
  'DPoP',
  // Twitch and Twitter
  "OAuth realm='TwitchTV', error='invalid_token'",
  'OAuth realm="https://api.example.com/", error="insufficient_scope"',
])('%j says that the token was refused', (challenge) => {
  expect(refusesToken({ status: 401, wwwAuthenticate: challenge }, refusedByDefault)).toBe(true)
})

test.each([
  'Bearer error="insufficient_scope"',
  'Bearer error="invalid_request"',
  'Bearer error="insufficient_user_authentication", acr_values="myACR"',
  'Bearer authorization_uri="https://login.example.com/", error="insufficient_claims", claims="eyJ9"',
  "Bearer error='INSUFFICIENT_SCOPE'",
  'Bearer realm="api"; error="insufficient_scope"',
  'Basic realm="api", Bearer error="insufficient_scope"',
  'Basic realm="api", Bearer realm="api", error="insufficient_scope"',
])('%j says something else', (challenge) => {
  expect(refusesToken({ status: 401, wwwAuthenticate: challenge }, refusedByDefault)).toBe(false)
})

test('no other status says so', () => {
  expect(
    refusesToken({ status: 403, wwwAuthenticate: 'Bearer error="invalid_token"' }, refusedByDefault),
  ).toBe(false)
})
