import { createTokenManager, type RatePolicy } from '../../src/index.ts'
import { VirtualClock } from '../simulation/virtual-clock.ts'

/** One call of a scene. */
export interface Sent {
  readonly method: string
  readonly path: string
  readonly cost?: number | undefined
}

/** One limit that a server enforces to the letter; times in milliseconds. */
export type Rule = {
  /** Which calls count; by default all. */
  readonly of?: (call: Sent) => boolean
  /** Calls of the same key count together. */
  readonly key?: (call: Sent) => string
  readonly cost?: (call: Sent) => number
} & (
  | { readonly sliding: number; readonly window: number }
  /** Windows one after the other, by the server's clock; `phase` is when one begins. */
  | { readonly fixed: number; readonly window: number; readonly phase?: number }
  /** Windows that begin with a call. */
  | { readonly sinceFirst: number; readonly window: number }
  | { readonly bucket: number; readonly perSecond: number }
  | { readonly apart: number }
  | { readonly atOnce: number }
)

/** An API, and how it is called. */
export interface Scene {
  readonly rules: readonly Rule[]
  /** Returns call number `index`. */
  readonly call?: ((index: number) => Sent) | undefined
  readonly callers?: number
  readonly seconds: number
  /** What it answers where a limit is exceeded. */
  readonly refusal?: {
    readonly status?: number
    readonly headers?: Record<string, string>
    readonly blocks?: number
  }
  /** Headers of every response. */
  readonly headers?: (left: number, now: number) => Record<string, string>
  readonly answerTime?: number
}

export interface Outcome {
  calls: number
  /** Calls that the server refused. */
  over: number
  lost: number
  /** What was accepted of what the tightest rule allows in that time. */
  share: number
}

interface Counted {
  readonly rule: Rule
  readonly log: { at: number; cost: number }[]
  level: number
  at: number
}

/** How far the server's clock is ahead of ours. */
const ahead = 400

class StrictServer {
  readonly #clock: VirtualClock
  readonly #counted = new Map<string, Counted>()
  underWay = 0
  blockedUntil = 0

  constructor(clock: VirtualClock) {
    this.#clock = clock
  }

  /** Returns how many units are left in the tightest rule, negative where the call is refused; counts it otherwise. */
  take(call: Sent, rules: readonly Rule[]): number {
    const now = this.#clock.now
    if (now < this.blockedUntil) return -1
    const counting = rules.flatMap((rule, index) => {
      if (rule.of?.(call) === false) return []
      const key = `${index} ${rule.key?.(call) ?? ''}`
      const counted = this.#counted.get(key) ?? { rule, log: [], level: 0, at: 0 }
      this.#counted.set(key, counted)
      return [{ counted, cost: rule.cost?.(call) ?? 1 }]
    })
    const left = Math.min(Infinity, ...counting.map(({ counted, cost }) => this.#left(counted, now) - cost))
    if (left < 0) return left
    for (const { counted, cost } of counting) {
      counted.log.push({ at: now, cost })
      counted.level += cost
      counted.at = now
    }
    return left
  }

  #left(counted: Counted, now: number): number {
    const { rule, log } = counted
    const since = (from: number): number => {
      while ((log[0]?.at ?? Infinity) <= from) log.shift()
      return log.reduce((sum, { cost }) => sum + cost, 0)
    }
    if ('sliding' in rule) return rule.sliding - since(now - rule.window)
    if ('sinceFirst' in rule) {
      const first = log[0]?.at ?? now
      if (now >= first + rule.window) log.length = 0
      return rule.sinceFirst - since(Number.NEGATIVE_INFINITY)
    }
    if ('fixed' in rule) {
      const wall = this.#clock.wall + ahead - (rule.phase ?? 0)
      return rule.fixed - since(now - (wall % rule.window) - 1e-6)
    }
    if ('bucket' in rule) {
      counted.level = Math.max(0, counted.level - ((now - counted.at) / 1_000) * rule.perSecond)
      counted.at = now
      return rule.bucket - counted.level
    }
    if ('apart' in rule) return now - (log.at(-1)?.at ?? Number.NEGATIVE_INFINITY) >= rule.apart ? 1 : 0
    return rule.atOnce - this.underWay
  }
}

/** How long a request travels: 5 to 15 ms. */
const travels = [5, 9, 15, 7, 12, 5, 11]

/** Lets a manager call an API with as many calls as the API takes, in simulated time. */
export async function callStrictly(ratePolicy: RatePolicy, scene: Scene): Promise<Outcome> {
  const clock = new VirtualClock()
  clock.install()
  try {
    return await run(ratePolicy, scene, clock)
  } finally {
    clock.uninstall()
  }
}

async function run(ratePolicy: RatePolicy, scene: Scene, clock: VirtualClock): Promise<Outcome> {
  const {
    rules,
    call = (): Sent => ({ method: 'GET', path: '/items' }),
    callers = 60,
    seconds,
    refusal = {},
  } = scene
  const baseUrl = 'https://api.example.com/v1/'
  const tokens = createTokenManager({
    issuers: {
      general: {
        tokenEndpoint: 'https://auth.example.com/token',
        credentials: { clientId: 'a', clientSecret: 'b' },
      },
    },
    apis: [{ baseUrl, issuer: 'general', ratePolicy }],
    fetch: async () => Response.json({ access_token: 'token', token_type: 'Bearer', expires_in: 1e8 }),
  })
  const warming = tokens.warmUp()
  await clock.pass(10)
  await warming
  const server = new StrictServer(clock)
  const pass = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
  const outcome: Outcome = { calls: 0, over: 0, lost: 0, share: 0 }
  const end = seconds * 1_000
  const accepted: { at: number; call: Sent }[] = []
  let made = 0

  const exchange = async (sent: Sent): Promise<{ status: number; headers: Record<string, string> }> => {
    outcome.calls += 1
    const travel = travels[outcome.calls % travels.length] ?? 5
    await pass(travel)
    const left = server.take(sent, rules)
    const date = new Date(Math.floor((clock.wall + ahead) / 1_000) * 1_000).toUTCString()
    const headers = { date, ...scene.headers?.(Math.max(0, left), clock.wall + ahead) }
    if (left < 0) {
      outcome.over += 1
      server.blockedUntil = clock.now + (refusal.blocks ?? 0)
      await pass(travel)
      return { status: refusal.status ?? 429, headers: { ...headers, ...refusal.headers } }
    }
    accepted.push({ at: clock.now, call: sent })
    server.underWay += 1
    await pass(scene.answerTime ?? 50)
    server.underWay -= 1
    await pass(travel)
    return { status: 200, headers }
  }

  const caller = async (): Promise<void> => {
    while (clock.now < end) {
      const sent = call(made)
      made += 1
      const url = baseUrl + sent.path.slice(1)
      const status = await tokens.route(url)?.send(
        async () => {
          const { status: got, headers } = await exchange(sent)
          return { status: got, header: (name: string) => headers[name as never], result: got, discard() {} }
        },
        { method: sent.method, url, cost: sent.cost },
      )
      if (status !== 200) outcome.lost += 1
    }
  }
  const all = Array.from({ length: callers }, async () => caller().catch(() => undefined))
  await clock.pass(end)
  void all
  outcome.share = shareOf(rules, accepted, seconds)
  await Promise.race([tokens.close(), clock.pass(1)])
  return outcome
}

/** Returns the share of the rule that was used most, of what it allows in a whole number of its windows. */
function shareOf(
  rules: readonly Rule[],
  accepted: readonly { at: number; call: Sent }[],
  seconds: number,
): number {
  const shares = rules.map((rule) => {
    const counted = accepted.filter(({ call }) => rule.of?.(call) !== false)
    const keys = new Set(counted.map(({ call }) => rule.key?.(call) ?? '')).size || 1
    const used = counted.reduce((sum, { call }) => sum + (rule.cost?.(call) ?? 1), 0)
    if ('atOnce' in rule) return 0
    if ('apart' in rule) return (used * rule.apart) / (seconds * 1_000)
    if ('bucket' in rule) return used / keys / (rule.bucket + rule.perSecond * seconds)
    const quota = 'sliding' in rule ? rule.sliding : 'fixed' in rule ? rule.fixed : rule.sinceFirst
    return used / keys / (quota * Math.max(1, (seconds * 1_000) / rule.window))
  })
  return Math.max(...shares)
}
