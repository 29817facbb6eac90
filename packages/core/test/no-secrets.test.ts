import { inspect } from 'node:util'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { TokenManager } from '../src/index.ts'
import type { Exchange } from '../src/adapter.ts'
import { apiOf, inTime } from './one-api.ts'
import { fakeService, refusal, unavailable } from './fake-issuer.ts'
import { shown } from './shown.ts'

beforeEach(() => vi.useFakeTimers({ now: Date.UTC(2026, 10, 21) }))
afterEach(() => vi.useRealTimers())

const secret = 'secret-that-nobody-may-see'
const old = new Date(Date.UTC(2025, 10, 25))
const credentials = [
  { clientId: 'client-1', clientSecret: `${secret}-1`, secretIssuedAt: old },
  { clientId: 'client-1', clientSecret: `${secret}-2` },
]

const answered = (status: number): Exchange<number> => ({ status, result: status, discard() {} })

const callOf = (tokens: TokenManager, status: number): Promise<unknown> =>
  apiOf(tokens).send(async () => answered(status))

test('no error, event, status, manager, API, pass or token shows a secret or a token', async () => {
  const { tokens, issuer, events } = fakeService({ credentials, maxWait: 1_000 })
  const seen: unknown[] = [tokens, tokens.route('https://api.example.com/')]
  // an issuer, or what stands before it, that sends back what it was sent
  const sent = (): unknown => issuer.requests.at(-1)?.['client_secret']
  const refusing = (): Response => refusal()
  const leaking = (error: Error): Error =>
    Object.assign(error, { config: { data: secret }, cause: new Error(secret) })
  const answers = [
    refusing,
    () => unavailable('1'),
    () => leaking(new TypeError(`fetch failed ${secret}`)),
    () => Response.json({ error: sent(), error_description: sent() }, { status: 400 }),
    () => Response.json({ access_token: `${secret} ${secret}`, token_type: 'Bearer' }),
    () => new Response(secret),
    () => new Promise<Response>(() => {}),
  ]
  for (const answer of answers) {
    issuer.respondWith(answer)
    const outcome = tokens.getToken('general').catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(120_000)
    const error = await outcome
    expect(error).toHaveProperty('code')
    seen.push(error, tokens.status())
  }
  issuer.respondWith(() =>
    issuer.requests.at(-1)?.['client_secret'] === `${secret}-2`
      ? Response.json({ access_token: `${secret}-token`, token_type: 'Bearer' })
      : refusal(),
  )
  const token = await tokens.getToken('general')
  expect(token.value).toBe(`${secret}-token`)
  await inTime(callOf(tokens, 401))
  const pass = await tokens.route('https://api.example.com/')?.admit()
  seen.push(token, [token], { token }, tokens.status(), tokens, ...events)
  for (const value of seen) expect(shown(value)).not.toContain(secret)
  // a pass is there to give the field away, but not to a log
  expect(inspect(pass, { depth: Infinity, showHidden: true, getters: true })).not.toContain(secret)
  expect(JSON.stringify(pass)).not.toContain(secret)
  pass?.release()
  expect(new Set(events.map(({ type }) => type))).toEqual(
    new Set([
      'secret.expiring',
      'renewal.failed',
      'token.renewed',
      'token.unusual',
      'token.rejected',
      'rejection.repeated',
      'call.finished',
    ]),
  )
})
