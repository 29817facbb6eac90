import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'

import { problem, send, type Answer } from '../server/answer.ts'
import { refuseToken } from './bearer.ts'
import { echoEndpoint } from './endpoints/echo.ts'
import type { Endpoint } from './endpoints/endpoint.ts'
import { outsideAnswer } from './endpoints/outside.ts'
import { recordsEndpoint } from './endpoints/records.ts'
import { redirectEndpoint } from './endpoints/redirect.ts'
import { slowEndpoint } from './endpoints/slow.ts'
import { statusEndpoint } from './endpoints/status.ts'
import { createFaultSlot, type FaultSlot } from '../faults/fault.ts'
import { createRandomDelay, type DelayRange } from '../faults/random-delay.ts'
import { createStrictRate, type StrictRatePolicy } from './strict-rate.ts'
import type { TokenState } from '../issuer/token-ledger.ts'

/** What happened to the calls of one API since the start or the last reset. */
export interface ApiCounts {
  /** Calls that arrived, whatever became of them. */
  calls: number
  /** Calls answered with any status that the other counts do not have. */
  answered: number
  /** Calls answered 401. */
  rejected: number
  /** Calls answered 429. */
  limited: number
  /** Calls answered 5xx. */
  failed: number
  /** The most calls that were between arrival and answer at once. */
  maxConcurrent: number
  /** The most calls that any window saw, per limit of the rate policy in its order; empty without a policy. */
  maxInWindow: number[]
}

export interface ApiOptions {
  /** With a trailing slash. */
  baseUrl: string
  verify: (token: string) => Promise<TokenState>
  /** How many records there are. */
  records: number
  ratePolicy: StrictRatePolicy | undefined
  delays: DelayRange | undefined
  now: () => number
}

/** One protected API: rate, faults, token, endpoint, in this order. */
export interface Api {
  readonly faults: FaultSlot<Answer>
  counts(): ApiCounts
  resetCounts(): void
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
}

const noCounts = { calls: 0, answered: 0, rejected: 0, limited: 0, failed: 0, maxConcurrent: 0 }

export function createApi({ baseUrl, verify, records, ratePolicy, delays, now }: ApiOptions): Api {
  const endpoints = new Map<string, Endpoint>([
    ['records', recordsEndpoint(records)],
    ['echo', echoEndpoint],
    ['redirect', redirectEndpoint],
    ['slow', slowEndpoint],
    ['status', statusEndpoint],
  ])
  const { origin, pathname: basePath } = new URL(baseUrl)
  const faults = createFaultSlot<Answer>(now)
  const rate = createStrictRate(ratePolicy?.limits ?? [], now)
  const networkDelay = createRandomDelay(delays)
  let counts = { ...noCounts }
  let underway = 0

  async function answerTo(request: IncomingMessage, url: URL): Promise<Answer> {
    const wait = rate.arrive()
    const fault = faults.take()
    if (fault !== undefined) return fault
    if (wait !== undefined) return tooManyCalls(wait, ratePolicy?.retryAfter ?? true)
    const refusal = await refuseToken(request.headers.authorization, verify)
    if (refusal !== undefined) return refusal

    const [name = '', ...rest] = url.pathname.slice(basePath.length).split('/')
    const endpoint = endpoints.get(name)
    if (endpoint === undefined) return problem(404, 'There is no such endpoint')
    return endpoint({ request, rest: rest.join('/'), query: url.searchParams, baseUrl })
  }

  return {
    faults,
    counts: () => ({ ...counts, maxInWindow: rate.maxima() }),
    resetCounts() {
      counts = { ...noCounts }
      rate.forgetMaxima()
    },
    async handle(request, response) {
      const url = new URL(origin + request.url)
      if (!url.pathname.startsWith(basePath)) return send(response, outsideAnswer(request, url.pathname))

      await networkDelay()
      counts.calls += 1
      underway += 1
      counts.maxConcurrent = Math.max(counts.maxConcurrent, underway)
      try {
        const answer = await answerTo(request, url)
        counts[outcomeOf(answer.status)] += 1
        await networkDelay()
        send(response, answer)
      } finally {
        underway -= 1
      }
    },
  }
}

function outcomeOf(status: number): 'answered' | 'rejected' | 'limited' | 'failed' {
  if (status === 401) return 'rejected'
  if (status === 429) return 'limited'
  return status >= 500 ? 'failed' : 'answered'
}

/** `Retry-After` has whole seconds only (RFC 9110 §10.2.3), so it is rounded up. */
function tooManyCalls(wait: number, retryAfter: boolean): Answer {
  const headers: OutgoingHttpHeaders = retryAfter ? { 'retry-after': `${Math.ceil(wait / 1_000)}` } : {}
  return problem(429, 'More calls arrived than the rate policy allows', headers)
}
