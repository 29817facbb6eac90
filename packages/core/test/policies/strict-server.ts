import { createTokenManager, type RatePolicy } from '../../src/index.ts'
import { VirtualClock } from '../simulation/virtual-clock.ts'

/** One call of a scene. */
export interface Sent {
  readonly method: string
  readonly path: string
  readonly cost?: number | undefined
  /** What it takes in the end, where that is another cost. */
  readonly takes?: number | undefined
  readonly priority?: number | undefined
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
  /** Windows of a calendar: those of one name are one. */
  | { readonly named: number; readonly nameOf: (wall: number) => string }
  /** Windows that begin with a call. */
  | { readonly sinceFirst: number; readonly window: number }
  | { readonly bucket: number; readonly perSecond: number }
  | { readonly apart: number }
  | { readonly atOnce: number }
)

/** What an API knows of a call when it responds. */
interface Said {
  readonly call: Sent
  /** By its clock, in epoch milliseconds. */
  readonly now: number
  /** Returns what is left of a rule, and in how many milliseconds it is whole again, or a unit comes free. */
  rule(index: number): Left
}

interface Left {
  readonly left: number
  readonly resetIn: number
}

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
  readonly headers?: (said: Said) => Record<string, string>
  readonly answerTime?: number
  /** Each call of so many is refused whatever the limits. */
  readonly refusesEach?: number
  /** Whether refused calls count. */
  readonly countsRefused?: boolean
  /** When it begins, in epoch milliseconds, and how far the server's clock is ahead of ours. */
  readonly startsAt?: number | undefined
  readonly ahead?: number
}

export interface Outcome {
  calls: number
  /** Calls that the server refused. */
  over: number
  lost: number
  /** What calls failed with. */
  errors: string[]
  /** How often a call went before one that had come to a higher priority. */
  overtaken: number
  /** What was accepted of what the tightest rule allows in that time. */
  share: number
}

interface Unit {
  readonly at: number
  cost: number
}

interface Counted {
  readonly rule: Rule
  readonly log: Unit[]
  level: number
  at: number
  name: string
}

class StrictServer {
  readonly #clock: VirtualClock
  readonly #ahead: number
  readonly #counted = new Map<string, Counted>()
  underWay = 0
  blockedUntil = 0

  /** @param ahead how far its clock is ahead of ours, in milliseconds. */
  constructor(clock: VirtualClock, ahead: number) {
    this.#clock = clock
    this.#ahead = ahead
  }

  get wall(): number {
    return this.#clock.wall + this.#ahead
  }

  /**
   * Counts a call, and returns how many units are left in the tightest rule, negative where the call is refused, with its
   * units, which may be settled later. @param isUnwanted whether the call is refused in any case, and then whether it counts.
   */
  take(
    call: Sent,
    rules: readonly Rule[],
    isUnwanted?: { readonly counts: boolean },
  ): { readonly left: number; readonly units: readonly Unit[] } {
    const now = this.#clock.now
    if (now < this.blockedUntil) return { left: -1, units: [] }
    const counting = rules.flatMap((rule, index) => {
      if (rule.of?.(call) === false) return []
      const key = `${index} ${rule.key?.(call) ?? ''}`
      const counted = this.#counted.get(key) ?? { rule, log: [], level: 0, at: 0, name: '' }
      this.#counted.set(key, counted)
      return [{ counted, cost: rule.cost?.(call) ?? 1 }]
    })
    const left = Math.min(Infinity, ...counting.map(({ counted, cost }) => this.#left(counted, now) - cost))
    if (left < 0 || isUnwanted?.counts === false) return { left, units: [] }
    const units = counting.map(({ counted, cost }) => {
      const unit = { at: now, cost }
      counted.log.push(unit)
      counted.level += cost
      counted.at = now
      return unit
    })
    return { left, units }
  }

  /** Returns what is left of a rule for a call, and in how many milliseconds more of it is. */
  leftOf(rule: Rule, index: number, call: Sent): Left {
    const now = this.#clock.now
    const counted = this.#counted.get(`${index} ${rule.key?.(call) ?? ''}`)
    if (counted === undefined) return { left: Infinity, resetIn: 0 }
    const left = Math.max(0, Math.floor(this.#left(counted, now)))
    const first = counted.log[0]?.at ?? now
    if ('sliding' in rule || 'sinceFirst' in rule) return { left, resetIn: first + rule.window - now }
    if ('fixed' in rule)
      return { left, resetIn: rule.window - ((this.wall - (rule.phase ?? 0)) % rule.window) }
    if ('bucket' in rule) return { left, resetIn: (counted.level / rule.perSecond) * 1_000 }
    return { left, resetIn: 0 }
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
    if ('fixed' in rule)
      return rule.fixed - since(now - ((this.wall - (rule.phase ?? 0)) % rule.window) - 1e-6)
    if ('named' in rule) {
      const name = rule.nameOf(this.wall)
      if (name !== counted.name) log.length = 0
      counted.name = name
      return rule.named - since(Number.NEGATIVE_INFINITY)
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
    refusesEach = Infinity,
    countsRefused = true,
    startsAt = clock.wall,
    ahead = 400,
  } = scene
  clock.setWall(startsAt - clock.wall)
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
  const server = new StrictServer(clock, ahead)
  const pass = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
  const outcome: Outcome = { calls: 0, over: 0, lost: 0, errors: [], overtaken: 0, share: 0 }
  const end = seconds * 1_000
  const accepted: { at: number; call: Sent }[] = []
  /** Calls that were not sent yet, and when one went before them that should not. */
  const waiting = new Set<{ readonly rank: number; readonly since: number; passedAt: number }>()
  let made = 0
  let isOver = false

  const exchange = async (sent: Sent): Promise<{ status: number; headers: Record<string, string> }> => {
    outcome.calls += 1
    const isUnwanted = outcome.calls % refusesEach === 0 ? { counts: countsRefused } : undefined
    const travel = travels[outcome.calls % travels.length] ?? 5
    await pass(travel)
    const { left, units } = server.take(sent, rules, isUnwanted)
    const date = new Date(Math.floor(server.wall / 1_000) * 1_000).toUTCString()
    const said = {
      call: sent,
      now: server.wall,
      rule: (index: number) => server.leftOf(rules[index] as Rule, index, sent),
    }
    const headers = { date, ...scene.headers?.(said) }
    if (left < 0 || isUnwanted !== undefined) {
      if (left < 0) outcome.over += 1
      server.blockedUntil = clock.now + (refusal.blocks ?? 0)
      await pass(travel)
      return { status: refusal.status ?? 429, headers: { ...headers, ...refusal.headers } }
    }
    accepted.push({ at: clock.now, call: sent })
    server.underWay += 1
    await pass(scene.answerTime ?? 50)
    server.underWay -= 1
    for (const unit of units) unit.cost = sent.takes ?? unit.cost
    await pass(travel)
    return { status: 200, headers }
  }

  const caller = async (): Promise<void> => {
    while (clock.now < end) {
      const sent = call(made)
      made += 1
      const url = baseUrl + sent.path.slice(1)
      const { priority = 0 } = sent
      const rank = priority - clock.now / (ratePolicy.aging ?? Infinity)
      const self = { rank, since: clock.now, passedAt: Infinity }
      waiting.add(self)
      const status = await tokens.route(url)?.send(
        async () => {
          // a call that is sent again goes first
          if (waiting.delete(self)) {
            if (self.passedAt < clock.now) outcome.overtaken += 1
            for (const other of waiting)
              if (other.rank > rank + 1e-9 && other.since < clock.now)
                other.passedAt = Math.min(other.passedAt, clock.now)
          }
          const { status: got, headers } = await exchange(sent)
          return { status: got, header: (name: string) => headers[name as never], result: got, discard() {} }
        },
        { method: sent.method, url, cost: sent.cost, priority },
      )
      if (status !== 200 && !isOver) outcome.lost += 1
    }
  }
  for (let each = 0; each < callers; each += 1)
    void caller().catch((error: unknown) => {
      if (!isOver) outcome.errors.push(String(error))
    })
  await clock.pass(end)
  isOver = true
  outcome.share = shareOf(rules, accepted, { ...scene, startsAt, ahead })
  await Promise.race([tokens.close(), clock.pass(1)])
  return outcome
}

/** Returns the share of the rule that was used most, of what it allows in that time. */
function shareOf(
  rules: readonly Rule[],
  accepted: readonly { at: number; call: Sent }[],
  { seconds, startsAt = 0, ahead = 0 }: Scene,
): number {
  const time = seconds * 1_000
  const shares = rules.map((rule) => {
    const counted = accepted.filter(({ call }) => rule.of?.(call) !== false)
    const byKey = new Map<string, number>()
    for (const { call } of counted) {
      const key = rule.key?.(call) ?? ''
      byKey.set(key, (byKey.get(key) ?? 0) + (rule.cost?.(call) ?? 1))
    }
    const used = Math.max(0, ...byKey.values())
    if ('atOnce' in rule) return 0
    if ('apart' in rule) return (used * rule.apart) / time
    if ('bucket' in rule) return used / (rule.bucket + rule.perSecond * seconds)
    if ('named' in rule) {
      const names = new Set(accepted.map(({ at }) => rule.nameOf(startsAt + ahead + at)))
      return used / (rule.named * names.size)
    }
    if ('sinceFirst' in rule || 'sliding' in rule) {
      const quota = 'sliding' in rule ? rule.sliding : rule.sinceFirst
      return used / (quota * Math.ceil(time / rule.window))
    }
    const windows = new Set(
      accepted.map(({ at }) => Math.floor((startsAt + ahead + at - (rule.phase ?? 0)) / rule.window)),
    )
    return used / (rule.fixed * windows.size)
  })
  return Math.max(...shares)
}
