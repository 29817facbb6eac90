import type { IncomingMessage, ServerResponse } from 'node:http'

import { FaultSlot, type Fault } from '../faults/fault.ts'
import { pause, sample, type DelayRange, type Latency, type Random } from '../faults/latency.ts'
import type { Outcome } from '../journal/entry.ts'
import type { Realm } from '../realm.ts'
import { problem, send, type Answer, cutInBody } from '../server/answer.ts'
import type { ServerClock } from '../server/server-clock.ts'
import { bearerToken, judgeToken, type KnownToken } from './presented-token.ts'
import { CallCounts, type ApiCounts } from './call-counts.ts'
import {
  echoEndpoint,
  type Endpoint,
  outsideAnswer,
  recordsEndpoint,
  redirectEndpoint,
  slowEndpoint,
  statusEndpoint,
} from './endpoints.ts'
import { resourceMetadataPath, type ResourceMetadata } from './resource-metadata.ts'
import { overTheLimit, rateHeaders, tooManyCalls } from './rate-headers.ts'
import { StrictRate, type StrictRatePolicy, type WindowUsage } from './strict-rate.ts'

export interface ApiOptions {
  realm: Realm
  /** With a trailing slash. */
  baseUrl: string
  /** What it publishes of itself, if its issuer has metadata, too. */
  metadata?: ResourceMetadata | undefined
  /** Returns what the issuers of this sandbox know about a token; `undefined` if none of them issued it. */
  identify: (token: string) => KnownToken | undefined
  records: number
  ratePolicy: StrictRatePolicy | undefined
  delays: DelayRange | undefined
  now: () => number
  random: Random
  clock: ServerClock
}

/** A protected API. It checks each call in this order: rate, faults, token, endpoint. */
export interface Api {
  readonly baseUrl: string
  readonly faults: FaultSlot<Fault>
  readonly clock: ServerClock
  slowness: Latency
  ratePolicy: StrictRatePolicy | undefined
  windows(): WindowUsage[]
  counts(): ApiCounts
  resetCounts(): void
  /** @param reachedAt - the earliest moment at which the call may have arrived. */
  handle(request: IncomingMessage, response: ServerResponse, reachedAt: number): Promise<Outcome>
}

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
  const faults = new FaultSlot<Fault>(now, random)
  /** Returns for how many milliseconds it waited, but for those that this process had no time. */
  const networkDelay = async (): Promise<number> => {
    if (options.delays === undefined) return 0
    const ms = sample(options.delays, random)
    await pause(ms)
    return ms
  }
  let policy = options.ratePolicy
  let rate = new StrictRate(policy?.limits ?? [], now)
  const counts = new CallCounts()

  async function decide(
    request: IncomingMessage,
    url: URL,
    { reachedAt, arrivedAt }: { reachedAt: number; arrivedAt: number },
  ): Promise<Decided> {
    const wait = rate.arrive(arrivedAt)
    const usage = rate.usage()
    const fault = faults.take()
    const token = bearerToken(request.headers.authorization)
    const known = token === undefined ? undefined : identify(token)
    const seen = { entry: known?.entry, usage }
    if (fault === 'cut') {
      return {
        ...seen,
        answer: 'cut',
        decision: 'failed',
        reason: 'the sandbox cut the connection (killApi)',
        cut: true,
      }
    }
    if (fault !== undefined && fault !== 'cut-body') {
      const reason = `the sandbox responded with ${fault.status} (failApi)`
      return { ...seen, answer: fault, decision: 'failed', reason }
    }
    if (wait !== undefined) {
      const answer = tooManyCalls(wait, policy?.retryAfter ?? true, clock)
      return { ...seen, answer, decision: 'limited', reason: overTheLimit(usage), flaws: ['over-limit'] }
    }
    const circumstances = { realm, now: now(), reachedAt, challenge: options.metadata?.challenge }
    const { refusal, ...judged } = judgeToken(token, known, circumstances)
    if (refusal !== undefined) return { ...seen, ...judged, answer: refusal }

    const answer = await answerOf(request, url)
    if (fault === 'cut-body') {
      const reason = 'the sandbox cut the connection in the middle of the body (killApi)'
      return { ...seen, answer, decision: 'failed', reason, cut: true, cutInBody: true }
    }
    return { ...seen, ...judged, answer }
  }

  async function answerOf(request: IncomingMessage, url: URL): Promise<Answer> {
    const [name = '', ...rest] = url.pathname.slice(basePath.length).split('/')
    const endpoint = endpoints.get(name)
    if (endpoint === undefined) return problem(404, 'Unknown endpoint')
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
      rate = new StrictRate(next?.limits ?? [], now)
    },
    windows: () => rate.usage(),
    counts: () => ({ ...counts.seen(), maxInWindow: rate.maxima() }),
    resetCounts() {
      counts.reset()
      rate.forgetMaxima()
    },
    async handle(request, response, reachedAt) {
      const url = new URL(origin + request.url)
      const brought = request.headers.authorization !== undefined
      // metadata is asked for without a token (RFC 9728 §3.1), also where every other path is the API's
      const isProbe = !brought && url.pathname.startsWith('/.well-known/')
      if (isProbe || !url.pathname.startsWith(basePath)) {
        const isMetadata = !brought && url.pathname.startsWith(resourceMetadataPath)
        send(response, (isMetadata && options.metadata?.answer) || outsideAnswer(request, url.pathname))
        return {
          decision: 'answered',
          reason: `outside the API${brought ? ', with an Authorization header' : ''}`,
          flaws: brought ? ['token-outside'] : [],
        }
      }

      const readAt = now()
      const arrivedAt = readAt + (await networkDelay())
      counts.arrived()
      try {
        const decided = await decide(request, url, { reachedAt, arrivedAt })
        const { answer, usage, cutInBody: half = false, ...outcome } = decided
        if (answer === 'cut') {
          counts.responded('cut')
          request.socket.destroy()
          return outcome
        }
        counts.responded(half ? 'cut' : answer.status)
        const held = sample(api.slowness, random)
        if (held > 0) await pause(held)
        await networkDelay()
        if (response.closed)
          return { ...outcome, decision: 'left', reason: `the client disconnected; ${outcome.reason}` }
        const headers = rateHeaders(policy?.headers ?? [], usage, clock.epoch())
        if (half) cutInBody(response)
        send(response, { ...answer, headers: { ...headers, ...answer.headers } })
        return outcome
      } finally {
        counts.left()
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
