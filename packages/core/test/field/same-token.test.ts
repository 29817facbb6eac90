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

test.each([
  ['', () => ({})],
  [', from a shared store', () => ({ store: sharedStore(new MemoryStore()) })],
])(
  'no call fails at an issuer that returns the same token until it ends, with 0 s left at last%s (spring-security-oauth#975)',
  async (_how, options) => {
    const { tokens, issuer } = fakeService({}, options())
    issuer.respondWith(issuing())
    const got: Promise<unknown>[] = []
    for (let seconds = 0; seconds < 7_300; seconds += 0.7) {
      got.push(tokens.getToken('general').then(({ value }) => value))
      await pass(0.7 * second)
    }
    await pass(15 * second)
    expect([...new Set(await Promise.all(got))]).toEqual(['token-0', 'token-1', 'token-2'])
    expect(issuer.count).toBeLessThan(60)
  },
)
