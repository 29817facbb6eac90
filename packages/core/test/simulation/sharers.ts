import { Random } from '../../../../tools/testing/src/random.ts'
import {
  createTokenManager,
  type RatePolicy,
  type TokenManager,
  type TokenManagerOptions,
} from '../../src/index.ts'
import { createTenants } from '../../src/tenants.ts'
import { simulatedFleet } from './simulated-fleet.ts'
import { VirtualClock } from './virtual-clock.ts'

/** What an API takes, and what it says; times in milliseconds. */
export interface SharedApi {
  /** At most so many calls in any such time. */
  readonly limits?: readonly { readonly quota: number; readonly window: number }[]
  /** At most so many calls at the same time. */
  readonly concurrency?: number
  /** The part of calls that it refuses for no reason. */
  readonly random?: number
  /** Stands still for so long, each time after so long: then all calls that have come meanwhile arrive at once. */
  readonly stall?: { readonly after: number; readonly for: number }
  readonly says: 'Retry-After' | 'headers' | 'nothing'
}

/** Several queues that call one API under one budget, and what they do. */
export interface Scene {
  readonly api: SharedApi
  readonly policy: RatePolicy
  /** What is each sharer's own, by its number. */
  readonly own?: (sharer: number) => Partial<RatePolicy>
  readonly seconds: number
  /** How many calls are queued or under way at any time, all sharers together. */
  readonly callers: number
  /** What happens meanwhile: at this time, by the first sharer. */
  readonly acts?: readonly { readonly at: number; readonly act: (tokens: TokenManager) => void }[]
}

export interface SceneFigures {
  refusals: number
  /** Accepted calls a second, of the last half. */
  rate: number
  /** Pauses that began. */
  pauses: number
  /** Calls that their callers lost to a 429 or an error. */
  lost: number
  /** The quota of the first limit that is kept at the end. */
  pace: number
}

const baseUrl = 'https://api.example.com/'
/** How long a request and its response travel together. */
const roundTrip = 20
const answerTime = 50

export type Sharing = (options: TokenManagerOptions, count: number) => readonly TokenManager[]

const tenants: Sharing = ({ apis, ...options }, count) => {
  const all = createTenants<string>({
    limits: 'shared',
    options: (id) => ({
      ...options,
      apis: apis.map((api) => ({ ...api, ratePolicy: policies[Number(id)] as RatePolicy })),
    }),
  })
  return Array.from({ length: count }, (_, index) => all.get(String(index)))
}
let policies: readonly RatePolicy[] = []

const processes: Sharing = ({ apis, ...options }, count) => {
  const limiter = simulatedFleet()
  return Array.from({ length: count }, (_, index) =>
    createTokenManager<string>({
      ...options,
      apis: apis.map((api) => ({ ...api, ratePolicy: policies[index] as RatePolicy })),
      limiter,
    }),
  )
}

/** Who shares a budget: tenants of one process, or the processes of a fleet. */
export const sharings: Record<string, Sharing> = { tenants, processes }

/** Plays a scene in simulated time, and counts at the API. */
export async function play(scene: Scene, count: number, sharing: Sharing): Promise<SceneFigures> {
  const clock = new VirtualClock()
  clock.install()
  try {
    return await run(scene, count, sharing, clock)
  } finally {
    clock.uninstall()
  }
}

async function run(
  scene: Scene,
  count: number,
  sharing: Sharing,
  clock: VirtualClock,
): Promise<SceneFigures> {
  const { api, policy, own = () => ({}), seconds, callers, acts = [] } = scene
  const figures: SceneFigures = { refusals: 0, rate: 0, pauses: 0, lost: 0, pace: Infinity }
  policies = Array.from({ length: count }, (_, index) => ({ ...policy, ...own(index) }))
  let pausedUntil = 0
  const managers = sharing(
    {
      issuers: {
        general: {
          tokenEndpoint: 'https://auth.example.com/token',
          credentials: { clientId: 'client', clientSecret: 'secret' },
        },
      },
      apis: [{ baseUrl, issuer: 'general', ratePolicy: policy }],
      fetch: async () => Response.json({ access_token: 'token', token_type: 'Bearer', expires_in: 1e7 }),
      observe(event) {
        if (event.type !== 'api.paused') return
        if (clock.now >= pausedUntil) figures.pauses += 1
        pausedUntil = Math.max(pausedUntil, clock.now + event.for)
      },
    },
    count,
  )
  const warming = Promise.all(managers.map((tokens) => tokens.warmUp()))
  await clock.pass(100)
  await warming
  const random = new Random(1)
  const accepted: number[] = []
  let underWay = 0
  const end = seconds * 1_000
  const pass = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

  let goesOnAt = 0
  const standStill = ({ after, for: ms }: { after: number; for: number }): void => {
    setTimeout(() => {
      goesOnAt = clock.now + ms
      standStill({ after, for: ms })
    }, after)
  }
  if (api.stall) standStill(api.stall)

  const exchange = async (): Promise<{ status: number; headers: Record<string, string> }> => {
    await pass(Math.max(roundTrip / 2, goesOnAt - clock.now))
    const now = clock.now
    const limits = (api.limits ?? []).map(({ quota, window }) => {
      const used = accepted.filter((at) => at > now - window)
      return { left: quota - used.length, resetIn: Math.ceil(((used[0] ?? now) + window - now) / 1_000) }
    })
    const isFull = limits.some(({ left }) => left <= 0) || underWay >= (api.concurrency ?? Infinity)
    const isOver = isFull || random.next() < (api.random ?? 0)
    const headers: Record<string, string> = {}
    const [{ left, resetIn } = { left: 1, resetIn: 1 }] = limits.toSorted((a, b) => a.left - b.left)
    if (isOver && api.says === 'Retry-After')
      headers['retry-after'] = String(isFull ? Math.max(1, resetIn) : 1)
    if (api.says === 'headers')
      headers['ratelimit'] = `"default";r=${Math.max(0, left - (isOver ? 0 : 1))};t=${resetIn}`
    if (isOver) figures.refusals += 1
    else {
      accepted.push(now)
      underWay += 1
      await pass(answerTime)
      underWay -= 1
    }
    await pass(roundTrip / 2)
    return { status: isOver ? 429 : 200, headers }
  }

  const caller = async (tokens: TokenManager): Promise<void> => {
    while (clock.now < end) {
      try {
        const status = await tokens.route(baseUrl)?.send(async () => {
          const response = await exchange()
          return {
            status: response.status,
            header: (name: string) => response.headers[name],
            result: response.status,
            discard() {},
          }
        })
        if (status !== 200) figures.lost += 1
      } catch {
        figures.lost += 1
        await pass(1_000)
      }
    }
  }
  for (let each = 0; each < callers; each += 1) void caller(managers[each % count] as TokenManager)
  for (const { at, act } of acts) setTimeout(() => act(managers[0] as TokenManager), at)
  await clock.pass(end)
  const [status] = (managers[0] as TokenManager).status().apis
  figures.pace = (status?.allows ?? policy.limits)[0]?.quota ?? Infinity
  figures.rate = accepted.filter((at) => at > end / 2).length / (seconds / 2)
  return figures
}
