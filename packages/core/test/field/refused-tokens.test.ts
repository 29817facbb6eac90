import { expect, test } from 'vitest'
import { fakeService } from '../fake-issuer.ts'
import { fakeTime, minute, pass, second } from '../fake-time.ts'
import { answer, apiOf, inTime } from '../one-api.ts'

// How APIs refuse a token.

fakeTime()

/** Makes one call to an API that refuses the first token with this challenge; returns its status and what was sent. */
async function refusing(status: number, challenge: string | undefined) {
  const { tokens } = fakeService()
  const sent: string[] = []
  const result = await inTime(
    apiOf(tokens).send(async (authorization) => {
      sent.push(authorization)
      const isRefused = sent.length === 1
      return answer(isRefused ? status : 200, isRefused ? status : 200, {
        wwwAuthenticate: isRefused ? challenge : undefined,
      })
    }),
  )
  return { result, sent: sent.map((authorization) => authorization.replace('Bearer ', '')) }
}

test.each([
  undefined,
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
  // Twitch (TwitchLib/TwitchLib#298)
  "OAuth realm='TwitchTV', error='invalid_token'",
  'OAuth realm="https://api.example.com/", error="insufficient_scope"',
])('a 401 with %j says that the token was refused: the call goes again with a new one', async (challenge) => {
  expect(await refusing(401, challenge)).toEqual({ result: 200, sent: ['token-1', 'token-2'] })
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
])('a 401 with %j says something else: it is the caller\u2019s', async (challenge) => {
  expect(await refusing(401, challenge)).toEqual({ result: 401, sent: ['token-1'] })
})

test('no other status says so', async () => {
  const challenge = 'Bearer error="invalid_token"'
  expect(await refusing(403, challenge)).toEqual({ result: 403, sent: ['token-1'] })
})

test('an API whose clock is 4 s behind refuses a new token as not yet valid: no call is lost (stytchauth/stytch-node#326, simov/grant#195)', async () => {
  const { tokens, issuer } = fakeService({ renewBefore: minute })
  await tokens.warmUp()
  const begin = performance.now()
  const validFrom = new Map<string, number>()
  const call = () =>
    apiOf(tokens).send(async (authorization) => {
      const now = performance.now() - begin
      if (!validFrom.has(authorization)) validFrom.set(authorization, now === 0 ? 0 : now + 4 * second)
      const status = now < (validFrom.get(authorization) ?? 0) ? 401 : 200
      return answer(status, status, { wwwAuthenticate: 'Bearer error="invalid_token"' })
    })
  expect(await call()).toBe(200)
  await pass(59 * minute - second)
  const statuses: Promise<number>[] = []
  for (let made = 0; made < 60; made += 1) {
    statuses.push(call())
    await pass(second / 2)
  }
  expect(new Set(await Promise.all(statuses))).toEqual(new Set([200]))
  expect(issuer.count).toBe(2)
})
