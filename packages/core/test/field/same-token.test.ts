import { expect, test } from 'vitest'
import { fakeService } from '../fake-issuer.ts'
import { fakeTime, pass, second } from '../fake-time.ts'
import { MemoryStore } from '../memory-store.ts'
import { sharedStore } from '../../src/fleet.ts'

fakeTime()

const lifetime = 3_600 * second

/** An issuer whose token stays the same until it ends, with what is left of it in whole seconds. */
function issuing() {
  const begin = Date.now()
  return (): Response => {
    const age = Date.now() - begin
    const left = Math.floor((lifetime - (age % lifetime)) / second)
    const token = `token-${Math.floor(age / lifetime)}`
    return Response.json({ access_token: token, token_type: 'bearer', expires_in: left })
  }
}

test('no call fails at an issuer that returns the same token until it ends, with 0 s left at last (spring-security-oauth#975)', async () => {
  const { tokens, issuer } = fakeService()
  issuer.respondWith(issuing())
  const got: Promise<unknown>[] = []
  for (let seconds = 0; seconds < 7_300; seconds += 0.7) {
    got.push(tokens.getToken('general').then(({ value }) => value))
    await pass(0.7 * second)
  }
  expect([...new Set(await Promise.all(got))]).toEqual(['token-0', 'token-1', 'token-2'])
  expect(issuer.count).toBeLessThan(60)
})

test('nor does one of a process that has the token from another', async () => {
  const store = sharedStore(new MemoryStore())
  const answer = issuing()
  const [first, other] = [fakeService({}, { store }), fakeService({}, { store })]
  for (const { issuer } of [first, other]) issuer.respondWith(answer)
  // what is left of it is rounded down, so it seems to end half a second early
  await pass(0.5 * second)
  await first.tokens.getToken('general')
  expect((await other.tokens.getToken('general')).value).toBe('token-0')
  await pass(lifetime - 0.9 * second)
  const token = other.tokens.getToken('general')
  for (let tries = 0; tries < 100; tries += 1) await pass(100)
  expect((await token).value).toBe('token-1')
})
