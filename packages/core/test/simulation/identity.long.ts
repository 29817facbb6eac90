// Long: 10,000 fleets of one process, each for two hours of simulated time.
import { Random } from '../../../../tools/testing/src/random.ts'
import { afterEach, expect, test, vi } from 'vitest'
import { createTokenManager, isTokenlaneError, oauthIssuer, type ClientCredentials } from '../../src/index.ts'

afterEach(() => vi.useRealTimers())

const minute = 60_000
const runs = 10_000
const seed = Number(process.env['SEED'])
const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')

/** One process, whose file is swapped, whose clock is off, and whose issuer refuses assertions for a while. */
async function run(random: Random): Promise<{ calls: number; requests: number }> {
  vi.useFakeTimers({ now: 1_795_000_000_000 })
  const audience = 'https://auth.example.com/token'
  // within a fifth of the life: the kubelet's file is always valid by both clocks
  const life = random.whole(10, 60) * minute
  const offset = random.whole(-0.19 * life, 0.19 * life)
  const lifetime = random.whole(1, 20) * minute
  const hasSecret = random.chance(0.7)
  const secretUntil = hasSecret ? random.whole(0, 120) * minute : 0
  // never while there is no secret, so that one of the two is always accepted
  const refusedUntil = random.whole(0, secretUntil)
  const start = Date.now()
  const elapsed = (): number => Date.now() - start
  const clusterTime = (): number => Date.now() - offset
  let made = 0
  /** The file: written anew at four fifths of its life. */
  const file = (): string => {
    const written = clusterTime() - (elapsed() % (0.8 * life))
    const exp = Math.floor((written + life) / 1_000)
    return `${encoded({ alg: 'ES256' })}.${encoded({ aud: audience, exp, jti: Math.floor(elapsed() / (0.8 * life)) })}.a`
  }
  const clientId = 'client-1'
  const list: ClientCredentials[] = [{ clientId, assertion: file }]
  if (hasSecret) list.splice(random.whole(0, 1), 0, { clientId, clientSecret: 'secret-1' })
  let requests = 0
  let expired = 0
  await using tokens = createTokenManager({
    issuers: { partner: oauthIssuer({ tokenEndpoint: audience, credentials: list }) },
    apis: [],
    async fetch(_url, { body }) {
      requests += 1
      const assertion = body.get('client_assertion')
      const { exp = Infinity } = JSON.parse(
        Buffer.from(assertion?.split('.')[1] ?? 'e30', 'base64url').toString(),
      ) as { exp?: number }
      if (exp * 1_000 <= Date.now()) expired += 1
      const accepted =
        assertion === null
          ? elapsed() < secretUntil
          : elapsed() >= refusedUntil && exp * 1_000 > clusterTime()
      made += 1
      return accepted
        ? Response.json({ access_token: `token-${made}`, token_type: 'Bearer', expires_in: lifetime / 1_000 })
        : Response.json({ error: 'invalid_client' }, { status: 401 })
    },
  })
  let calls = 0
  while (elapsed() < 120 * minute) {
    await vi.advanceTimersByTimeAsync(random.exponential(3 * minute))
    calls += 1
    try {
      await tokens.getToken('partner')
    } catch (error) {
      if (!isTokenlaneError(error)) throw error
      throw new Error(
        `lost at ${elapsed()}: ${JSON.stringify({ life, offset, lifetime, secretUntil, refusedUntil })}`,
        {
          cause: error,
        },
      )
    }
  }
  // an expired one is never sent
  expect(expired).toBe(0)
  // one for each call that needs a token, and a refused one before it in each 30 s at most
  expect(requests).toBeLessThanOrEqual(2 * calls + 2)
  return { calls, requests }
}

test(`in ${runs} runs of file swaps, refused assertions and clocks that are off no call is lost`, async () => {
  const random = new Random(seed)
  let total = 0
  for (let index = 0; index < runs; index += 1) total += (await run(random)).calls
  expect(total).toBeGreaterThan(30 * runs)
}, 600_000)
