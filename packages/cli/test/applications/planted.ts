// A client by hand that makes the mistake that its argument names, and no other one.
import { readFileSync } from 'node:fs'
import { Agent, request, type RequestOptions } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'

const mistake = process.argv[2] ?? ''
const variable = (name: string): string => process.env[name] ?? ''

const agent = new Agent({
  keepAlive: mistake !== 'no-keep-alive',
  ...(mistake === 'old-tls' && { minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' }),
})

interface Response {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

async function send(url: string, options: RequestOptions, body?: string): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>()
  const sent = request(url, { agent, ...options }, (response) => {
    let text = ''
    response
      .setEncoding('utf8')
      .on('data', (part: string) => (text += part))
      .once('error', reject)
      .once('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text })
      })
  })
  sent.once('error', reject).end(body)
  return promise
}

interface Token {
  readonly value: string
  readonly expiresAt: number
}

/** The token of one issuer, and one token request at a time. */
function createIssuer(prefix: string) {
  const url = variable(`${prefix}_TOKEN_URL`)
  let token: Token | undefined
  let flight: Promise<Token> | undefined
  let drops = 0
  const read = (): Record<string, string> =>
    JSON.parse(readFileSync(variable(`${prefix}_CREDENTIALS_FILE`), 'utf8')) as Record<string, string>
  const atStart = read()

  const ask = async (wrong?: string): Promise<Token> => {
    const { clientId = '', clientSecret = '' } = mistake === 'no-recovery' ? atStart : read()
    const secret = mistake === 'no-file' ? variable(`${prefix}_CLIENT_SECRET`) : clientSecret
    const form = new URLSearchParams({
      grant_type: wrong === 'token-request' ? 'password' : 'client_credentials',
      client_id: clientId,
      client_secret: wrong === 'client-authentication' ? 'wrong' : secret,
    })
    if (prefix === 'WEBLINK') form.set('scope', variable('WEBLINK_SCOPE'))
    const isJson = wrong === 'content-type'
    const requestedAt = Date.now()
    const { status, body } = await send(
      mistake === 'secret-in-url' ? `${url}?client_secret=${secret}` : url,
      {
        method: 'POST',
        headers: { 'content-type': isJson ? 'application/json' : 'application/x-www-form-urlencoded' },
      },
      isJson ? JSON.stringify(Object.fromEntries(form)) : form.toString(),
    )
    const { access_token: value, expires_in: lifetime } = JSON.parse(body) as Record<string, unknown>
    if (status !== 200 || typeof value !== 'string') throw new Error(`no token: ${status}`)
    return { value, expiresAt: requestedAt + Number(lifetime) * 900 }
  }

  const renew = async (): Promise<Token> => {
    if (['client-authentication', 'content-type', 'token-request'].includes(mistake))
      await ask(mistake).catch(() => {})
    for (;;) {
      try {
        return await ask()
      } catch (error) {
        if (mistake === 'given-up') {
          await sleep(150)
          throw error
        }
        if (mistake !== 'hammered-issuer') await sleep(400)
      }
    }
  }

  return {
    async token(): Promise<Token> {
      if (token !== undefined && (Date.now() < token.expiresAt || mistake === 'expired-token')) return token
      if (mistake === 'stampede') return (token = await renew())
      flight ??= renew().finally(() => (flight = undefined))
      return (token = await flight)
    },
    drop(refused: Token): void {
      drops += 1
      if (mistake === 'expired-token' && drops % 50 > 0) return
      if (token === refused && mistake !== 'rejected-token') token = undefined
    },
  }
}

const issuers = [createIssuer('GENERAL'), createIssuer('WEBLINK')] as const

/** With one lock for both issuers, what holds up one holds up the other. */
let lock: Promise<unknown> = Promise.resolve()

async function tokenFor(api: number): Promise<Token> {
  const issuer = issuers[mistake === 'foreign-token' ? 0 : api] as (typeof issuers)[0]
  if (mistake !== 'both-stopped') return issuer.token()
  const token = lock.then(() => issuer.token())
  lock = token.catch(() => {})
  return token
}

/** When the next call may be sent, and until when nothing may. */
const next = [0, 0]
const pausedUntil = [0, 0]

async function permit(api: number): Promise<void> {
  if (mistake === 'over-limit') return
  for (;;) {
    const at = Math.max(next[api] ?? 0, pausedUntil[api] ?? 0, Date.now())
    if ((pausedUntil[api] ?? 0) <= Date.now()) {
      next[api] = at + 1_750 / Number(variable('CALLS_PER_SECOND'))
      await sleep(at - Date.now())
      if ((pausedUntil[api] ?? 0) <= Date.now()) return
    } else await sleep(at - Date.now() + 1)
  }
}

async function call(api: number, url: string): Promise<void> {
  if (mistake === 'missing-token') await send(url, {})
  const isEndless = mistake === 'endless-401'
  const mostRefusals = isEndless ? Infinity : 2
  for (let refusals = 0; refusals < mostRefusals;) {
    // as fast as it can: a busy machine leaves it few calls of a scene
    if (!isEndless || refusals === 0) await permit(api)
    const token = await tokenFor(api)
    const headers = { authorization: `Bearer ${token.value}` }
    const query = mistake === 'token-in-url' ? `?access_token=${token.value}` : ''
    const response = await send(url + query, { headers })
    const { location } = response.headers
    if (response.status === 307 && typeof location === 'string')
      await send(location, mistake === 'token-outside' ? { headers } : {})
    if (mistake === 'needless-renewal') issuers[api]?.drop(token)
    if (response.status === 429 && mistake !== 'ignored-retry-after')
      pausedUntil[api] = Date.now() + Number(response.headers['retry-after']) * 1_000
    if (response.status === 429) continue
    if (response.status !== 401) return
    if (!isEndless) issuers[api]?.drop(token)
    if (mistake === 'work-lost') return
    refusals += 1
  }
}

for (const [api, baseUrl] of [variable('API_URL'), variable('WEBLINK_URL')].entries()) {
  let number = 0
  const caller = async (): Promise<never> => {
    for (;;) {
      number += 1
      await call(api, `${baseUrl}records/INV-${String(number).padStart(7, '0')}`).catch(() => {})
      await sleep(20)
    }
  }
  for (let index = 0; index < Number(variable('CALLERS')); index += 1) void caller()
}
