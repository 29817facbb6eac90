import { beforeEach, describe, expect, test } from 'vitest'

import type { JournalEntry, LedgerEntry, RequestFacts, SeenRequest } from '../journal/entry.ts'
import { Judge, rules, type Finding } from './verdict.ts'

let judge: Judge
let kept: number[]
let lastId: number
let latest: SeenRequest
beforeEach(() => {
  kept = []
  lastId = 0
  judge = new Judge((id) => kept.push(id))
})

type Changed = Partial<Omit<JournalEntry, 'id' | 'token'>> & Partial<RequestFacts>

/** Shows the judge a request with its times of arrival and decision; returns its id. */
function see(changed: Changed): number {
  lastId += 1
  const { kind = 'api', realm = 'general', arrivedAt = 0, decidedAt = arrivedAt } = changed
  const facts: RequestFacts = {
    realm,
    kind,
    beganAt: changed.beganAt ?? arrivedAt,
    reachedAt: arrivedAt,
    arrivedAt,
    decidedAt,
    call: changed.call ?? 'GET /records',
    retryAt: changed.retryAt,
    token: changed.token,
    onConnection: changed.onConnection ?? 2,
    resumed: changed.resumed ?? false,
    cut: changed.cut ?? false,
    flaws: changed.flaws ?? [],
  }
  const entry: JournalEntry = {
    id: lastId,
    at: '2026-01-01T00:00:00.000Z',
    target: `${realm}-${kind === 'issuer' ? 'issuer' : 'api'}`,
    client: changed.client ?? 'node',
    connection: changed.connection ?? 1,
    method: 'GET',
    path: '/records',
    token: changed.token?.name ?? null,
    status: changed.status ?? 200,
    decision: changed.decision ?? (kind === 'issuer' ? 'issued' : 'answered'),
    reason: '',
  }
  latest = { entry, ...facts }
  judge.see(latest)
  return lastId
}

const token = (issuedAt: number, changed: Partial<LedgerEntry> = {}): LedgerEntry => ({
  name: `general-${issuedAt}`,
  lifetime: 1_000,
  issuedAt,
  promisedUntil: issuedAt + 1_000,
  expiresAt: issuedAt + 1_000,
  revokedAt: undefined,
  ...changed,
})

const issue = (issuedAt: number): LedgerEntry => {
  const issued = token(issuedAt)
  see({ kind: 'issuer', arrivedAt: issuedAt, token: issued })
  return issued
}
const refused = { status: 401, decision: 'refused' } as const
const finding = (rule: string): Finding | undefined =>
  judge.verdict().findings.find((each) => each.rule === rule)

test('nothing seen is nothing wrong', () => {
  expect(judge.verdict()).toEqual({ ok: true, findings: [] })
})

test('every rule says what happened and what to change', () => {
  for (const { message, fix } of rules) {
    expect(message(1)).toMatch(/^1 /)
    expect(message(1_000)).toMatch(/^1,000 /)
    expect(fix).toMatch(/\.$/)
  }
})

test('evidence is kept, at most 10 entries, and counted beyond', () => {
  for (let call = 0; call < 30; call += 1) see({ flaws: ['over-limit'], status: 200 })
  expect(finding('over-limit')).toMatchObject({
    severity: 'error',
    count: 30,
    evidence: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  })
  expect(kept).toHaveLength(10)
  expect(judge.verdict().ok).toBe(false)
  judge.clear()
  expect(judge.verdict().ok).toBe(true)
})

test('token requests that overlap by a millisecond are a stampede', () => {
  const first = see({ kind: 'issuer', arrivedAt: 0, decidedAt: 100 })
  const second = see({ kind: 'issuer', arrivedAt: 99, decidedAt: 200 })
  expect(finding('stampede')).toMatchObject({ count: 1, evidence: [first, second] })
})

test('a token request when the one before has ended is not a stampede, nor one to the other issuer', () => {
  see({ kind: 'issuer', arrivedAt: 0, decidedAt: 100 })
  see({ kind: 'issuer', arrivedAt: 100, decidedAt: 200 })
  see({ kind: 'issuer', realm: 'weblink', arrivedAt: 50, decidedAt: 150 })
  expect(finding('stampede')).toBeUndefined()
})

test('a token request on a connection that was opened while another one was under way is a stampede too', () => {
  see({ kind: 'issuer', arrivedAt: 0, decidedAt: 2, token: token(2) })
  see({ kind: 'issuer', beganAt: 1, arrivedAt: 3, decidedAt: 5, token: token(5) })
  expect(finding('stampede')?.evidence).toEqual([1, 2])
  expect(finding('needless-renewal')).toBeUndefined()
})

test('100 token requests at once are 99 too many', () => {
  for (let request = 0; request < 100; request += 1)
    see({ kind: 'issuer', arrivedAt: request / 1_000, decidedAt: 50 })
  expect(finding('stampede')?.count).toBe(99)
})

test('a token requested 1 ms before half of the other one’s life is over is needless', () => {
  issue(0)
  issue(499)
  expect(finding('needless-renewal')).toMatchObject({ count: 1, evidence: [1, 2] })
})

test('a token requested at half of the other one’s life is not needless', () => {
  issue(0)
  issue(500)
  expect(finding('needless-renewal')).toBeUndefined()
})

test('a token requested after a 401 of the current one is not needless', () => {
  see({ ...refused, arrivedAt: 5, token: issue(0) })
  issue(10)
  expect(finding('needless-renewal')).toBeUndefined()
})

test('a token requested after a straggling 401 of an older one is needless', () => {
  const old = issue(0)
  see({ ...refused, arrivedAt: 5, token: old })
  issue(10)
  see({ ...refused, arrivedAt: 11, token: old })
  issue(20)
  expect(finding('needless-renewal')?.evidence).toEqual([3, 5])
})

describe('a token request after the program with the current token', () => {
  /** A program that requests a token, makes a call and ends, each on a connection of its own. */
  function run(at: number, changed: Changed & { closesFirst?: true } = {}): void {
    const issued = token(at)
    const { closesFirst, ...others } = changed
    const [toIssuer, toApi] = [lastId + 1, lastId + 2]
    see({ kind: 'issuer', onConnection: 1, connection: toIssuer, arrivedAt: at, token: issued, ...others })
    const close = (connection: number): void =>
      judge.seeClose({ last: { ...latest, entry: { ...latest.entry, connection } }, at })
    if (closesFirst) close(toIssuer)
    see({
      onConnection: 1,
      connection: toApi,
      arrivedAt: at + 1,
      token: issued,
      client: changed.client ?? 'node',
    })
    close(toIssuer)
    close(toApi)
  }

  test('has ended is that of its next start, however often it starts', () => {
    for (let start = 0; start < 20; start += 1) run(start * 30)
    expect(judge.verdict()).toEqual({ ok: true, findings: [] })
  })

  test('has closed its connections and resumes a session is needless: only the same process can', () => {
    run(0)
    run(10, { resumed: true })
    expect(finding('needless-renewal')).toMatchObject({ severity: 'error', count: 1 })
  })

  test('is needless while a connection that brought the token is open', () => {
    issue(0)
    see({ kind: 'issuer', onConnection: 1, connection: 2, arrivedAt: 10, token: token(10) })
    expect(finding('needless-renewal')).toMatchObject({ severity: 'error', count: 1 })
  })

  test('is needless if that program closes each connection at once: its end would not show', () => {
    run(0, { closesFirst: true })
    run(10, { closesFirst: true })
    expect(finding('needless-renewal')).toMatchObject({ severity: 'error', count: 1 })
  })

  test('is a note if a person types it, and needless again for a program beside that', () => {
    for (const at of [0, 10, 20]) run(at, { closesFirst: true, client: 'curl/8.14.1' })
    expect(finding('needless-renewal')).toMatchObject({ severity: 'note', count: 2 })
    expect(judge.verdict().ok).toBe(true)
    run(30, { closesFirst: true })
    run(40, { closesFirst: true })
    expect(finding('needless-renewal')).toMatchObject({ severity: 'error', count: 3 })
  })
})

test('a call without a token is a note if a person types it, and an error of a program', () => {
  see({ ...refused, flaws: ['missing-token'], client: 'curl/8.14.1' })
  expect(finding('missing-token')).toMatchObject({ severity: 'note' })
  see({ ...refused, flaws: ['missing-token'] })
  expect(finding('missing-token')).toMatchObject({ severity: 'error', count: 2 })
})

test('an old version of TLS is a note beside a newer one, as curl offers it, and an error alone', () => {
  see({ flaws: ['old-tls'] })
  expect(finding('old-tls')).toMatchObject({ severity: 'note' })
  see({ flaws: ['old-tls'], decision: 'refused' })
  expect(finding('old-tls')).toMatchObject({ severity: 'error' })
})

test('a secret in a URL is an error, whoever types it', () => {
  see({ flaws: ['secret-in-url'], client: 'curl/8.14.1' })
  expect(finding('secret-in-url')).toMatchObject({ severity: 'error' })
})

/** Shows the judge a call that brings this token. */
const use = (live: LedgerEntry, arrivedAt: number): number => see({ arrivedAt, token: live })

test('two tokens that are both in use later belong to two programs: neither request was needless', () => {
  const [one, other] = [issue(0), issue(10)]
  use(other, 511)
  use(one, 510)
  // so soon a call may still have been under way with the token of before
  expect(finding('needless-renewal')?.evidence).toEqual([1, 2])
  use(one, 511)
  expect(finding('needless-renewal')).toBeUndefined()
})

test('each of two programs may replace its own token when that is old or refused', () => {
  const [one, other] = [issue(0), issue(10)]
  for (const each of [one, other]) use(each, 520)
  const renewed = issue(530)
  issue(540)
  see({ ...refused, arrivedAt: 545, token: renewed })
  issue(550)
  expect(finding('needless-renewal')).toBeUndefined()
  issue(560)
  expect(finding('needless-renewal')).toMatchObject({ count: 1 })
})

test('two programs that start at once are a stampede only as long as they could be one', () => {
  const [one, other] = [token(0), token(1)]
  see({ kind: 'issuer', arrivedAt: 0, decidedAt: 100, token: one })
  see({ kind: 'issuer', arrivedAt: 50, decidedAt: 150, token: other })
  for (const each of [one, other]) use(each, 650)
  expect(finding('stampede')?.evidence).toEqual([1, 2])
  for (const each of [one, other]) use(each, 651)
  expect(finding('stampede')).toBeUndefined()
})

test('a revoked token is not held against another program, whose connection is older than the refusal', () => {
  const revoked = token(0, { revokedAt: 10 })
  see({ ...refused, arrivedAt: 100, token: revoked, connection: 1 })
  see({ ...refused, arrivedAt: 900, token: revoked, connection: 2 })
  expect(finding('rejected-token')).toBeUndefined()
  see({ ...refused, arrivedAt: 1_500, token: revoked, connection: 2 })
  expect(finding('rejected-token')).toMatchObject({ count: 1, evidence: [1, 3] })
  see({ ...refused, arrivedAt: 1_500, token: revoked, connection: 3, onConnection: 1 })
  expect(finding('rejected-token')).toMatchObject({ count: 2 })
})

test('a revoked token sent again when its client could know is found, and not before', () => {
  const revoked = token(0, { revokedAt: 10 })
  see({ ...refused, arrivedAt: 100, token: revoked })
  see({ ...refused, arrivedAt: 600, token: revoked })
  expect(finding('rejected-token')).toBeUndefined()
  see({ ...refused, arrivedAt: 601, token: revoked })
  expect(finding('rejected-token')?.evidence).toEqual([1, 3])
})

test('a request before Retry-After is over is found, one after it is not', () => {
  const limited = { status: 429, decision: 'limited', retryAt: 1_000 } as const
  see({ ...limited, arrivedAt: 0 })
  see({ arrivedAt: 500 })
  see({ arrivedAt: 1_000 })
  see({ arrivedAt: 500, realm: 'weblink' })
  see({ arrivedAt: 500, client: 'other' })
  expect(finding('ignored-retry-after')).toBeUndefined()
  see({ arrivedAt: 900 })
  expect(finding('ignored-retry-after')?.evidence).toEqual([1, 6])
})

test('a call that comes again at once after each 401, for 1.5 s, is a retry without end', () => {
  for (let time = 0; time < 1_500; time += 25) see({ ...refused, arrivedAt: time })
  expect(finding('endless-401')).toBeUndefined()
  see({ ...refused, arrivedAt: 1_500 })
  expect(finding('endless-401')).toMatchObject({ count: 1, evidence: [60, 61] })
})

test('8 calls of one URL that are each sent three times are not, nor is a poller', () => {
  for (let time = 0; time < 24; time += 1) see({ ...refused, arrivedAt: time * 40 })
  for (let time = 0; time < 30; time += 1) see({ ...refused, arrivedAt: 2_000 + time * 501 })
  expect(finding('endless-401')).toBeUndefined()
})

test('ten sends of a call to a slow API are no retry without end', () => {
  for (let time = 0; time < 10_000; time += 1_000) see({ ...refused, arrivedAt: time, decidedAt: time + 999 })
  expect(finding('endless-401')).toBeUndefined()
  see({ ...refused, arrivedAt: 10_000 })
  expect(finding('endless-401')?.evidence).toEqual([10, 11])
})

test('1,000 calls that were refused at once are not retries of each other', () => {
  for (let call = 0; call < 1_000; call += 1) see({ ...refused, arrivedAt: 0, decidedAt: 10 })
  expect(finding('endless-401')).toBeUndefined()
})

test('the eleventh token request of a second that fails is one too many', () => {
  const failing = { kind: 'issuer', status: 503, decision: 'failed' } as const
  for (let time = 0; time < 10; time += 1) see({ ...failing, arrivedAt: time * 99, decidedAt: time * 99 })
  expect(finding('hammered-issuer')).toBeUndefined()
  see({ ...failing, arrivedAt: 999 })
  expect(finding('hammered-issuer')).toMatchObject({ count: 1, evidence: [1, 11] })
})

test('a refused call is lost until the same call succeeds', () => {
  see({ ...refused, call: 'GET /records/1' })
  see({ status: 429, decision: 'limited', call: 'GET /records/2' })
  expect(finding('work-lost')).toMatchObject({ count: 2, evidence: [1, 2] })
  see({ call: 'GET /records/1' })
  expect(finding('work-lost')).toMatchObject({ count: 1, evidence: [2] })
  see({ call: 'GET /records/2' })
  expect(finding('work-lost')).toBeUndefined()
})

test.each([404, 500])('a refused call that the API answers with status %i is not lost', (status) => {
  see({ ...refused })
  see({ status, decision: 'answered' })
  expect(finding('work-lost')).toBeUndefined()
})

test('a refused call that its caller leaves when it is sent again is not lost by the client', () => {
  see({ ...refused })
  see({ decision: 'left' })
  expect(finding('work-lost')).toBeUndefined()
})

test('a refused call that meets a fault when it is sent again is not lost by its client', () => {
  see({ ...refused })
  see({ status: 503, decision: 'failed' })
  expect(finding('work-lost')).toBeUndefined()
})

const failedIssuer = { kind: 'issuer', status: 503, decision: 'failed' } as const

test('a refused call is not lost while its issuer fails on demand, nor while the client leaves a slow one', () => {
  see({ ...refused })
  see({ ...refused, realm: 'weblink' })
  see({ ...failedIssuer, arrivedAt: 10 })
  expect(finding('work-lost')).toMatchObject({ count: 1, evidence: [2] })
  see({ kind: 'issuer', realm: 'weblink', status: 200, decision: 'left', arrivedAt: 10 })
  expect(finding('work-lost')).toBeUndefined()
})

test('a limited call needs no new token: it is lost although its issuer fails', () => {
  see({ status: 429, decision: 'limited' })
  see(failedIssuer)
  expect(finding('work-lost')?.count).toBe(1)
})

test('a token that comes less than 10 s after the refusal is one to send the call with', () => {
  see({ ...refused, arrivedAt: 1 })
  see({ ...failedIssuer, arrivedAt: 10 })
  see({ kind: 'issuer', arrivedAt: 10_000, token: token(10_000) })
  expect(finding('work-lost')).toMatchObject({ count: 1, evidence: [1] })
})

test('a token that comes 10 s after the refusal, because the issuer failed, came too late for the call', () => {
  see({ ...refused, arrivedAt: 1 })
  see({ ...failedIssuer, arrivedAt: 10 })
  see({ kind: 'issuer', arrivedAt: 10_001, token: token(10_001) })
  expect(finding('work-lost')).toBeUndefined()
})

test('a client that waits 10 s of its own accord has lost the call', () => {
  see({ ...refused, arrivedAt: 1 })
  see({ kind: 'issuer', arrivedAt: 10_001, token: token(10_001) })
  expect(finding('work-lost')?.count).toBe(1)
})

/** Shows the judge a connection with one request, which the client closes after `closedAfter` milliseconds. */
function single(connection: number, arrivedAt: number, closedAfter: number, client = 'node'): void {
  lastId += 1
  const entry = {
    id: lastId,
    client,
    target: 'general-api',
    decision: 'answered',
    connection,
  } as JournalEntry
  const times = { beganAt: arrivedAt, arrivedAt, decidedAt: arrivedAt }
  const last = { entry, onConnection: 1, cut: false, ...times, kind: 'api', flaws: [] }
  judge.see(last as never)
  judge.seeClose({ last: last as never, at: arrivedAt + closedAfter })
}

test('five connections opened where one had just been closed are no keep-alive, and only a warning', () => {
  for (let request = 0; request < 5; request += 1) single(request, request * 26, 1)
  expect(finding('no-keep-alive')).toBeUndefined()
  single(5, 5 * 26, 1)
  expect(finding('no-keep-alive')).toMatchObject({ severity: 'warning', count: 5 })
  expect(judge.verdict().ok).toBe(true)
})

test('programs that start one after the other are not: each must open a connection of its own', () => {
  for (let request = 0; request < 50; request += 1) single(request, request * 27, 1)
  // faster than that starts curl, which keeps its connection for as long as it runs
  for (let request = 0; request < 50; request += 1) single(request, request * 15, 1, 'curl/8.14.1')
  expect(finding('no-keep-alive')).toBeUndefined()
})

test('connections that were idle for a second before they were closed are not', () => {
  for (let request = 0; request < 10; request += 1) single(request, request * 2_000, 1_001)
  expect(finding('no-keep-alive')).toBeUndefined()
})

test.each(rules.map(({ name, message, fix }) => ({ name, text: message(1) + fix })))(
  '$name is told in plain text',
  ({ text }) => expect(text).not.toContain('`'),
)

test('a burst on many connections is not', () => {
  for (let request = 0; request < 50; request += 1) single(request, 0, 5)
  expect(finding('no-keep-alive')).toBeUndefined()
})
