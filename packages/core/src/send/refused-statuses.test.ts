import { expect, test } from 'vitest'
import { fakeTime } from '../../test/fake-time.ts'
import { fakeService } from '../../test/fake-issuer.ts'
import { answer, apiOf, inTime } from '../../test/one-api.ts'

fakeTime()

const apis = (refusedStatuses?: readonly number[]) => ({
  apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general', refusedStatuses }],
})

test.each([403, 404])('a %i costs a renewal and one more send where the API names it', async (status) => {
  for (const [statuses, sends] of [
    [undefined, 1],
    [[401], 1],
    [[401, status], 2],
  ] as const) {
    const { tokens, issuer } = fakeService({}, apis(statuses))
    const sent: string[] = []
    const result = await apiOf(tokens).send(async (authorization) => {
      sent.push(authorization)
      return answer(authorization === 'Bearer token-1' ? status : 200, authorization)
    })
    expect(sent).toHaveLength(sends)
    expect(result).toBe(`Bearer token-${sends}`)
    expect(issuer.count).toBe(sends)
  }
})

test('an API that says 403 to everything costs as few renewals as one that says 401', async () => {
  const renewals = async (status: number): Promise<number> => {
    const { tokens, issuer } = fakeService({}, apis([401, 403]))
    for (let call = 0; call < 50; call += 1)
      await inTime(apiOf(tokens).send(async () => answer(status, status)))
    return issuer.count
  }
  const by401 = await renewals(401)
  expect(by401).toBeLessThan(25)
  expect(Math.abs((await renewals(403)) - by401)).toBeLessThanOrEqual(1)
})

test('a 403 that names another reason than the token is the caller\u2019s', async () => {
  const { tokens, issuer } = fakeService({}, apis([401, 403]))
  const header = (name: string): string | undefined =>
    name === 'www-authenticate' ? 'Bearer error="insufficient_scope"' : undefined
  await expect(apiOf(tokens).send(async () => ({ ...answer(403, 403), header }))).resolves.toBe(403)
  expect(issuer.count).toBe(1)
})

test.each([[200], [429], [500], ['403'], 403])('%j is refused', (...statuses) => {
  expect(() => fakeService({}, apis(statuses[0] === 403 ? (403 as never) : (statuses as number[])))).toThrow(
    /`apis\[0\]\.refusedStatuses.*allowed: an array of status codes, 400 to 499 except 429/,
  )
})

test('a status cannot refuse a token and a call for its limit', () => {
  const ratePolicy = { limits: [], limitedStatuses: [403, 429] }
  const [api] = apis([401, 403]).apis
  expect(() => fakeService({}, { apis: [{ ...(api as object), ratePolicy }] as never })).toThrow(
    '`apis[0].refusedStatuses[1]` is 403; allowed: an array of status codes, 400 to 499 except 429 and `ratePolicy.limitedStatuses`',
  )
})
