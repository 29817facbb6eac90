import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'

import type { Fault } from '../faults/failure.ts'
import { createFaultSlot, type FaultSlot } from '../faults/fault.ts'
import { pause, sample, type DelayRange, type Latency } from '../faults/latency.ts'
import type { Random } from '../faults/random.ts'
import { count, inSeconds } from '../in-words.ts'
import type { Outcome } from '../journal/entry.ts'
import type { Realm } from '../realm.ts'
import { problem, send, type Answer } from '../server/answer.ts'
import { cutInBody } from '../server/cut.ts'
import type { ServerClock } from '../server/server-clock.ts'
import { bearerToken, refuseToken } from './bearer.ts'
import { echoEndpoint } from './endpoints/echo.ts'
import type { Endpoint } from './endpoints/endpoint.ts'
import { outsideAnswer } from './endpoints/outside.ts'
import { recordsEndpoint } from './endpoints/records.ts'
import { redirectEndpoint } from './endpoints/redirect.ts'
import { slowEndpoint } from './endpoints/slow.ts'
import { statusEndpoint } from './endpoints/status.ts'
import { judgeToken, type KnownToken } from './presented-token.ts'
import { rateHeaders } from './rate-headers.ts'
import { createStrictRate, type StrictRatePolicy, type WindowUsage } from './strict-rate.ts'

/** What happened to the calls of one API since the start or the last reset. */
export interface ApiCounts {
  /** Calls that arrived, whatever became of them. */
  calls: number
  /** Calls that got any status that the other counts do not have. */
  answered: number
  /** Calls that got a 401. */
  rejected: number
  /** Calls that got a 429. */
  limited: number
  /** Calls that got a 5xx, or a cut connection. */
  failed: number
  /** The most calls that were between arrival and response at once. */
  maxConcurrent: number
  /** The most calls that any window saw, per limit of the rate policy in its order; empty without a policy. */
  maxInWindow: number[]
}

export interface ApiOptions {
  realm: Realm
  /** With a trailing slash. */
  baseUrl: string
  /** Returns what an issuer of this sandbox knows of a token. */
  identify: (token: string) => Promise<KnownToken | undefined>
  /** How many records there are. */
  records: number
  ratePolicy: StrictRatePolicy | undefined
  delays: DelayRange | undefined
  now: () => number
  random: Random
  clock: ServerClock
}

/** One protected API: rate, faults, token, endpoint, in this order. */
export interface Api {
  readonly baseUrl: string
  readonly faults: FaultSlot<Fault>
  readonly clock: ServerClock
  /** How long each response is held. */
  slowness: Latency
  ratePolicy: StrictRatePolicy | undefined
  /** Per limit of the rate policy, how full its window is now. */
  windows(): WindowUsage[]
  counts(): ApiCounts
  resetCounts(): void
  /** @param reachedAt - the earliest moment at which the call may have arrived. */
  handle(request: IncomingMessage, response: ServerResponse, reachedAt: number): Promise<Outcome>
}

const noCounts = { calls: 0, answered: 0, rejected: 0, limited: 0, failed: 0, maxConcurrent: 0 }

export function createApi(options: ApiOptions): Api {
  const { realm, baseUrl, identify, now, random, clock } = options
  const endpoints = new Map<string, Endpoint>([
    ['records', recordsEndpoint(options.records)],
    ['echo', echoEndpoint],
    ['redirect', redirectEndpoint],
    ['slow', slowEndpoint],
    ['status', statusEndpoint],
  ])
  const { origin, pathname: basePath } = new URL(baseUrl)
  const faults = createFaultSlot<Fault>(now, random)
  const networkDelay = async (): Promise<void> => {
    if (options.delays !== undefined) await pause(sample(options.delays, random))
  }
  let policy = options.ratePolicy
  let rate = createStrictRate(policy?.limits ?? [], now)
  let counts = { ...noCounts }
  let underway = 0

  async function decide(request: IncomingMessage, url: URL, reachedAt: number): Promise<Decided> {
    const wait = rate.arrive()
    const usage = rate.usage()
    const fault = faults.take()
    const token = bearerToken(request.headers.authorization)
    const known = token === undefined ? undefined : await identify(token)
    const seen = { entry: known?.entry, usage }
    if (fault === 'cut') {
      return {
        ...seen,
        answer: 'cut',
        decision: 'failed',
        reason: 'the sandbox cut the connection, as killApi says',
        cut: true,
      }
    }
    if (fault !== undefined && fault !== 'cut-body') {
      const reason = `the sandbox answered ${fault.status}, as failApi says`
      return { ...seen, answer: fault, decision: 'failed', reason }
    }
    if (wait !== undefined) {
      const answer = tooManyCalls(wait, policy?.retryAfter ?? true, clock)
      return { ...seen, answer, decision: 'limited', reason: overTheLimit(usage), flaws: ['over-limit'] }
    }
    const judged = judgeToken(token, known, { realm, now: now(), reachedAt })
    const state = known?.issuer === realm ? known.state : 'unknown'
    const refusal = await refuseToken(request.headers.authorization, async () => state)
    if (refusal !== undefined) return { ...seen, ...judged, answer: refusal }

    const answer = await answerOf(request, url)
    if (fault === 'cut-body') {
      const reason = 'the sandbox cut the connection in mid-body, as killApi says'
      return { ...seen, answer, decision: 'failed', reason, cut: true, cutInBody: true }
    }
    return { ...seen, ...judged, answer }
  }

  async function answerOf(request: IncomingMessage, url: URL): Promise<Answer> {
    const [name = '', ...rest] = url.pathname.slice(basePath.length).split('/')
    const endpoint = endpoints.get(name)
    if (endpoint === undefined) return problem(404, 'There is no such endpoint')
    return endpoint({ request, rest: rest.join('/'), query: url.searchParams, baseUrl })
  }

  const api: Api = {
    baseUrl,
    faults,
    clock,
    slowness: 0,
    get ratePolicy() {
      return policy
    },
    set ratePolicy(next) {
      policy = next
      rate = createStrictRate(next?.limits ?? [], now)
    },
    windows: () => rate.usage(),
    counts: () => ({ ...counts, maxInWindow: rate.maxima() }),
    resetCounts() {
      counts = { ...noCounts }
      rate.forgetMaxima()
    },
    async handle(request, response, reachedAt) {
      const url = new URL(origin + request.url)
      if (!url.pathname.startsWith(basePath)) {
        send(response, outsideAnswer(request, url.pathname))
        const brought = request.headers.authorization !== undefined
        return {
          decision: 'answered',
          reason: `outside of the API${brought ? ', with an Authorization header' : ''}`,
          flaws: brought ? ['token-outside'] : [],
        }
      }

      await networkDelay()
      counts.calls += 1
      underway += 1
      counts.maxConcurrent = Math.max(counts.maxConcurrent, underway)
      try {
        const { answer, usage, cutInBody: half = false, ...outcome } = await decide(request, url, reachedAt)
        if (answer === 'cut') {
          counts.failed += 1
          request.socket.destroy()
          return outcome
        }
        counts[half ? 'failed' : outcomeOf(answer.status)] += 1
        const held = sample(api.slowness, random)
        if (held > 0) await pause(held)
        await networkDelay()
        if (response.closed)
          return { ...outcome, decision: 'left', reason: `the client left; ${outcome.reason}` }
        const headers = rateHeaders(policy?.headers ?? [], usage, clock.epoch())
        if (half) cutInBody(response)
        send(response, { ...answer, headers: { ...headers, ...answer.headers } })
        return outcome
      } finally {
        underway -= 1
      }
    },
  }
  return api
}

interface Decided extends Outcome {
  answer: Answer | 'cut'
  usage: WindowUsage[]
  cutInBody?: boolean
}

function outcomeOf(status: number): 'answered' | 'rejected' | 'limited' | 'failed' {
  if (status === 401) return 'rejected'
  if (status === 429) return 'limited'
  return status >= 500 ? 'failed' : 'answered'
}

function overTheLimit(usage: readonly WindowUsage[]): string {
  const over = usage.find(({ used, quota }) => used > quota)
  if (over === undefined) return 'over the limit'
  return `over the limit: ${count(over.used)} of ${count(over.quota)} in ${inSeconds(over.window)}`
}

/** Whole seconds, rounded up, because `Retry-After` has no others (RFC 9110 §10.2.3). */
function tooManyCalls(wait: number, retryAfter: StrictRatePolicy['retryAfter'], clock: ServerClock): Answer {
  const headers: OutgoingHttpHeaders = {}
  if (retryAfter === 'date') {
    headers['retry-after'] = new Date(Math.ceil((clock.epoch() + wait) / 1_000) * 1_000).toUTCString()
  } else if (retryAfter !== false) headers['retry-after'] = `${Math.ceil(wait / 1_000)}`
  return problem(429, 'More calls arrived than the rate policy allows', headers)
}
