import { Random } from '../../../../tools/testing/src/random.ts'
import { createTokenManager, type RateLimit, type RatePolicy } from '../../src/index.ts'
import { VirtualClock } from './virtual-clock.ts'

/** How long an API takes for a response, in milliseconds. */
export type AnswerTime = (random: Random) => number

export const answerTimes: Readonly<Record<string, AnswerTime>> = {
  '1 ms': () => 1,
  '300 ms': () => 300,
  '2 s': () => 2_000,
  'lognormal, 300 ms': (random) => 300 * Math.exp(0.5 * gauss(random)),
  '100 to 3,000 ms': (random) => 100 + 2_900 * random.next(),
}

/** What is simulated; times in milliseconds. */
export interface QuotaSimulation {
  readonly seed: number
  readonly policy: RatePolicy & { readonly limits: readonly RateLimit[] }
  /** How long a request and how long a response travels, at least and at most. */
  readonly network: readonly [least: number, most: number]
  readonly answerTime: AnswerTime
  readonly seconds: number
  /** What the API allows, if that is not the policy. */
  readonly allowed?: readonly RateLimit[]
  /** How many calls are queued or under way at any time. */
  readonly callers?: number
  /** How many round trips the set-up of a connection takes. */
  readonly setUp?: number
  /** The part of calls that are given up after a random time. */
  readonly givenUp?: number
  /** How long the process stands still now and then, at most. */
  readonly stall?: number
  readonly headers?: (remaining: number, resetIn: number) => Record<string, string>
}

export interface QuotaFigures {
  /** Accepted calls, of what the quota allows, after the first ten seconds. */
  share: number
  /** Responses of 429 in 1,000 calls. */
  refused: number
  /** How many requests were refused, since the start. */
  refusals: number
  /** Calls whose callers got the 429, or an error that is not their own. */
  lost: number
  calls: number
  /** Within how many milliseconds requests count as arrived at the end. */
  status: unknown
  events: string[]
}

/** How long free connections stay open. */
const keepAlive = 4_000
const warmUp = 10_000

/** Lets one manager call an API with a strict server for a while, in simulated time, and counts at the server. */
export async function simulateQuota(options: QuotaSimulation): Promise<QuotaFigures> {
  const clock = new VirtualClock()
  const drawn = Math.random
  const random = new Random(options.seed)
  clock.install()
  Math.random = new Random(options.seed + 1).next
  try {
    return await run(options, clock, random)
  } finally {
    Math.random = drawn
    clock.uninstall()
  }
}

async function run(options: QuotaSimulation, clock: VirtualClock, random: Random): Promise<QuotaFigures> {
  const { policy, network, answerTime, seconds, setUp = 2, givenUp = 0, stall = 0 } = options
  const allowed = options.allowed ?? policy.limits
  const events: string[] = []
  const tokens = createTokenManager({
    issuers: {
      general: {
        tokenEndpoint: 'https://auth.example.com/token',
        credentials: { clientId: 'client', clientSecret: 'secret' },
      },
    },
    apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general', ratePolicy: policy }],
    fetch: async () => Response.json({ access_token: 'token', token_type: 'Bearer', expires_in: 1e7 }),
    observe: (event) => {
      if (!event.type.startsWith('call.')) events.push(event.type)
    },
  })
  const api = tokens.route('https://api.example.com/')
  if (api === undefined) throw new Error('no API')
  const warming = tokens.warmUp()
  await clock.pass(1)
  await warming
  const travel = (): number => network[0] + (network[1] - network[0]) * random.next()
  const pass = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
  const accepted: number[] = []
  const free: number[] = []
  let stallsAt = stall > 0 ? 500 : Infinity
  const figures = { refusals: 0, lost: 0, calls: 0 }

  /** How many calls the API accepts at a time. */
  const room = (at: number): number =>
    Math.min(
      ...allowed.map(({ quota, window }) => {
        let count = 0
        for (
          let index = accepted.length - 1;
          at - (accepted[index] ?? Number.NEGATIVE_INFINITY) <= window;
          index -= 1
        )
          count += 1
        return quota - count
      }),
    )

  /** The network and the API do not stand still with the process. */
  const until = (at: number): Promise<void> => pass(at - clock.now)

  const exchange = async (
    signal: AbortSignal | undefined,
  ): Promise<{ status: number; headers: Record<string, string> }> => {
    let at = clock.now
    if (at - (free.pop() ?? Number.NEGATIVE_INFINITY) > keepAlive) {
      free.length = 0
      for (let trips = 0; trips < setUp; trips += 1) at += travel() + travel()
    }
    at += travel()
    await until(at)
    const left = room(at)
    const isAccepted = left > 0
    if (isAccepted) accepted.push(at)
    else figures.refusals += 1
    const headers = options.headers?.(Math.max(0, left - 1), 1_000) ?? {}
    if (isAccepted) at += answerTime(random)
    at += travel()
    await until(at)
    if (signal?.aborted !== true) free.push(at)
    return {
      status: isAccepted ? 200 : 429,
      headers: isAccepted ? headers : { 'retry-after': '1', ...headers },
    }
  }

  const end = seconds * 1_000
  const caller = async (): Promise<void> => {
    while (clock.now < end) {
      figures.calls += 1
      const controller = random.next() < givenUp ? new AbortController() : undefined
      try {
        const outcome = await api.send(async () => {
          if (controller) setTimeout(() => controller.abort(), 500 * random.next())
          const made = exchange(controller?.signal)
          const aborted =
            controller &&
            new Promise<never>((_, refuse) =>
              controller.signal.addEventListener('abort', () => refuse(controller.signal.reason as Error)),
            )
          const { status, headers } = await (aborted ? Promise.race([made, aborted]) : made)
          return {
            status,
            retryAfter: headers['retry-after'],
            header: (name: string) => headers[name],
            result: status,
            discard() {},
          }
        })
        if (outcome !== 200) figures.lost += 1
      } catch (error) {
        if ((error as Error).name !== 'AbortError') figures.lost += 1
      }
      if (clock.now > stallsAt) {
        clock.stall(stall * random.next())
        stallsAt = clock.now + 3_000 * random.next()
      }
    }
  }
  const most = Math.max(...policy.limits.map(({ quota }) => quota))
  for (let count = options.callers ?? 20 * most; count > 0; count -= 1) void caller()
  await clock.pass(end)
  const status = tokens.status().apis[0]
  const sent = accepted.length + figures.refusals
  return {
    ...figures,
    share: shareOf(accepted, allowed),
    refused: (1_000 * figures.refusals) / sent,
    status,
    events,
  }
}

/** Over whole rounds of the quota, so that it does not matter where in a batch the measuring begins and ends. */
function shareOf(accepted: readonly number[], limits: readonly RateLimit[]): number {
  const { quota, window } = limits.toSorted((a, b) => a.quota / a.window - b.quota / b.window)[0]!
  const steady = accepted.filter((at) => at > warmUp)
  const calls = Math.floor((steady.length - 1) / quota) * quota
  return (calls * window) / (quota * (steady[calls]! - steady[0]!))
}

function gauss(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next())
}
