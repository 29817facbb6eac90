// Long: five clients call for 20 s, or for FAULTS_SECONDS, while their issuers and APIs fail at random.
import { setTimeout as sleep } from 'node:timers/promises'
import tls from 'node:tls'
import { inspect } from 'node:util'
import { createTokenManager, generalIssuer, weblinkIssuer } from '@tokenlane/core'
import { startSandbox, type JournalEntry, type SandboxControl } from '@tokenlane/sandbox'
import { Random } from '@tokenlane/testing/random'
import { expect, test } from 'vitest'
import { createClients, outcomeOf, type Request } from './support/clients.ts'

const seconds = Number(process.env['FAULTS_SECONDS'] ?? 20)
const seed = Number(process.env['SEED'])
const limits = [
  { quota: 40, window: 1_000 },
  { quota: 500, window: 15_000 },
] as const
const realms = ['general', 'weblink'] as const
type Realm = (typeof realms)[number]

/** How calls may end while something fails. Whatever else comes is a fault of ours, such as a `TypeError`. */
const lostToFaults =
  /^(?:ok|given up|status (?:401|429|503)|TOKEN_\w+|QUEUE_TIMEOUT|E[A-Z]+|ERR_\w+|UND_ERR_\w+)$/
/** After these, the API has not processed a call, which may then be sent again. axios starts again after a redirect. */
const maySendAgain = new Set([302, 307, 401, 429])
/** Two more for 401s, three more for 429s. */
const mostSends = 6
/** A client of ours is never found doing one of these. */
const neverFound =
  /^(?:token-outside|foreign-token|missing-token|token-in-url|secret-in-url|over-limit|stampede)$/

interface Call extends Request {
  readonly id: string
}

test('under random faults no call is lost without a reason, sent twice or over the quota, and no secret is printed', async () => {
  const random = new Random(seed)
  await using sandbox = await startSandbox({
    seed,
    tokenLifetime: 20_000,
    records: 1,
    journalSize: 1_000_000,
    delays: { min: 0, max: 20 },
    ratePolicies: { weblink: { limits } },
  })
  const { control, authUrl, weblinkAuthUrl, apiUrl, weblinkUrl } = sandbox
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), sandbox.ca])
  const credentials = { ...sandbox.credentials }
  const secrets = new Set(Object.values(credentials).map(({ clientSecret }) => clientSecret))
  const tokens = createTokenManager({
    issuers: {
      general: generalIssuer({ authUrl, credentials: () => credentials.general }),
      weblink: weblinkIssuer({ authUrl: weblinkAuthUrl, credentials: () => credentials.weblink }),
    },
    apis: [
      { baseUrl: apiUrl, issuer: 'general' },
      { baseUrl: weblinkUrl, issuer: 'weblink', ratePolicy: { limits, maxWait: 10_000 } },
    ],
    observe(event) {
      if (event.type !== 'token.renewed') return
      void tokens.getToken(event.issuer as Realm).then(
        ({ value }) => secrets.add(value),
        () => {},
      )
    },
  })
  const clients = createClients(tokens)
  const names = Object.keys(clients.send) as (keyof typeof clients.send)[]
  const until = performance.now() + seconds * 1_000
  const outcomes = new Map<string, string>()
  const streams = new Set<string>()
  const printed: string[] = []
  const most = limits.map(() => 0)
  const keepMost = (): void => {
    const found = control.counts().apis.weblink.maxInWindow
    for (const [index, count] of found.entries()) most[index] = Math.max(most[index] ?? 0, count)
  }

  async function make(name: (typeof names)[number], call: Call, patience?: number): Promise<string> {
    const signal = patience === undefined ? undefined : AbortSignal.timeout(patience)
    try {
      const status = await clients.send[name]({ ...call, ...(signal && { signal }) })
      return status < 400 ? 'ok' : `status ${status}`
    } catch (error) {
      const shown = inspect(error, { depth: 10, maxStringLength: null })
      if ([...secrets].some((secret) => shown.includes(secret))) printed.push(`${name}: ${outcomeOf(error)}`)
      return signal?.aborted === true ? 'given up' : outcomeOf(error)
    }
  }

  let calls = 0
  async function keepCalling(name: (typeof names)[number], own: Random): Promise<void> {
    while (performance.now() < until) {
      const id = `c${(calls += 1)}`
      // axios' redirect hops take no unit of a limit, as its table of limits says
      const base = own.chance(0.35) && name !== 'axios' ? weblinkUrl : apiUrl
      const outside = new URL('/outside/page', weblinkUrl).href
      const call = { id, ...own.pick(requests)(base, id, outside) }
      if (call.stream) streams.add(id)
      outcomes.set(id, await make(name, call, own.chance(0.03) ? own.whole(1, 1_500) : undefined))
      await sleep(own.whole(0, 150))
    }
  }

  const callers = names.flatMap((name, of) =>
    [0, 1, 2, 3].map((each) => keepCalling(name, new Random(seed + of * 4 + each + 1))),
  )
  await playFaults(random, { control, credentials, secrets, keepMost, until })
  control.restoreApi()
  control.restoreIssuer()
  await Promise.all(callers)
  keepMost()

  const reachedBy = sendsByCall(control.journal())
  const wrong: string[] = []
  for (const [id, outcome] of outcomes) {
    const sends = [id, `${id}/hop`].map((each) => reachedBy.get(each) ?? [])
    const story = `${id} ${outcome}: ${sends.flat().join()}`
    if (!lostToFaults.test(outcome)) wrong.push(`ended in no known way: ${story}`)
    for (const statuses of sends) {
      if (statuses.slice(0, -1).some((status) => !maySendAgain.has(status)))
        wrong.push(`sent twice: ${story}`)
      if (statuses.length > mostSends) wrong.push(`sent too often: ${story}`)
      if (streams.has(id) && statuses.length > 1) wrong.push(`a stream was sent again: ${story}`)
    }
    if (outcome === 'ok' && !sends.flat().some((status) => status > 0 && status < 400))
      wrong.push(`succeeded without reaching the API: ${story}`)
  }
  expect(wrong).toEqual([])
  expect(printed).toEqual([])
  expect(control.verdict().findings.filter(({ rule }) => neverFound.test(rule))).toEqual([])
  for (const [index, { quota }] of limits.entries()) expect(most[index]).toBeLessThanOrEqual(quota)
  const succeeded = [...outcomes.values()].filter((outcome) => outcome === 'ok')
  expect(succeeded.length).toBeGreaterThan(outcomes.size / 4)

  // what a rotation left behind is over once the newest secrets are known
  for (const realm of realms) credentials[realm] = control.rotateSecret(realm)
  for (const name of names)
    await expect
      .poll(() => make(name, { id: '', method: 'GET', stream: false, url: `${apiUrl}slow/healed?ms=0` }), {
        timeout: 60_000,
      })
      .toBe('ok')
  await tokens.close()
  await clients.close()
})

/** What a call may be. Its id stands in the path, and so in the journal. */
const requests: readonly ((base: string, id: string, outside: string) => Request)[] = [
  (base, id) => ({ method: 'GET', stream: false, url: `${base}slow/${id}?ms=20` }),
  (base, id) => ({ method: 'POST', stream: false, url: `${base}echo/${id}` }),
  (base, id) => ({ method: 'POST', stream: true, url: `${base}echo/${id}` }),
  (base, id) => redirect('GET', base, { id, status: 302, to: `${base}slow/${id}/hop?ms=0` }),
  (base, id) => redirect('POST', base, { id, status: 307, to: `${base}echo/${id}/hop` }),
  (base, id, outside) => redirect('GET', base, { id, status: 302, to: outside }),
]

function redirect(
  method: 'GET' | 'POST',
  base: string,
  { id, status, to }: { id: string; status: number; to: string },
): Request {
  const url = `${base}redirect/${id}?status=${status}&to=${encodeURIComponent(to)}`
  return { method, stream: false, url }
}

interface Stage {
  readonly control: SandboxControl
  readonly credentials: Record<Realm, { clientId: string; clientSecret: string }>
  readonly secrets: Set<string>
  /** Notes the most calls in a window, which another policy counts anew. */
  readonly keepMost: () => void
  readonly until: number
}

/** Begins one fault after the other, which overlap. */
async function playFaults(
  random: Random,
  { control, credentials, secrets, keepMost, until }: Stage,
): Promise<void> {
  const percent = (from: number, to: number): number => random.whole(from, to)
  const retryAfter = (): object => {
    const wait = random.whole(1, 3)
    const at = new Date(Date.now() + wait * 1_000)
    return random.pick([{}, { retryAfter: wait }, { retryAfter: at.toUTCString() }])
  }
  type Fault = (realm: Realm, span: number) => unknown
  const faults: readonly Fault[] = [
    (realm, span) =>
      control.failIssuer(realm, { status: random.pick([500, 502, 503]), for: span, ...retryAfter() }),
    (realm, span) => control.killIssuer(realm, { midBody: random.chance(0.5), for: span }),
    async (realm, span) => {
      control.slowIssuer(realm, { min: 100, max: 2_000 })
      await sleep(span)
      control.slowIssuer(realm, 0)
    },
    async (realm, span) => {
      const overlap = random.chance(0.5)
      const next = control.rotateSecret(realm, { overlap })
      secrets.add(next.clientSecret)
      if (!overlap) control.revokeTokens(realm)
      await sleep(span)
      credentials[realm] = next
      if (overlap) control.revokeTokens(realm)
    },
    (realm) => control.revokeTokens(realm),
    (realm) => control.expireTokens(realm),
    (realm, span) => control.failApi(realm, { status: 401, percent: percent(5, 50), for: span }),
    (realm, span) =>
      control.failApi(realm, {
        status: random.pick([429, 503]),
        percent: percent(2, 30),
        for: span,
        ...retryAfter(),
      }),
    (realm, span) =>
      control.killApi(realm, { midBody: random.chance(0.5), percent: percent(2, 50), for: span }),
    async (realm, span) => {
      control.slowApi(realm, { min: 0, max: 1_500 })
      await sleep(span)
      control.slowApi(realm, 0)
    },
    () => {
      keepMost()
      control.setRatePolicy('weblink', {
        limits,
        headers: random.pick([[], ['ratelimit'], ['ratelimit-limit'], ['x-ratelimit']]),
        retryAfter: random.pick(['seconds', 'date', false]),
      })
    },
  ]
  const going: unknown[] = []
  while (performance.now() < until) {
    await sleep(random.whole(100, 1_500))
    going.push(random.pick(faults)(random.pick(realms), random.whole(200, 3_000)))
  }
  await Promise.all(going)
}

/** Returns the statuses of a call's sends, 0 for a connection that was cut, by its id. */
function sendsByCall(entries: readonly JournalEntry[]): Map<string, number[]> {
  const sends = new Map<string, number[]>()
  for (const { target, path, status } of entries) {
    const id = target.endsWith('-api') ? /\/(c\d+(?:\/hop)?)$/.exec(path ?? '')?.[1] : undefined
    if (id !== undefined) sends.set(id, [...(sends.get(id) ?? []), status ?? 0])
  }
  return sends
}
