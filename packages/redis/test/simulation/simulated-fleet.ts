import { createHash } from 'node:crypto'
import {
  type Claim,
  createRateLimiter,
  type LimitedApi,
  type Permit,
  type RateLimiter,
} from '@tokenlane/core/fleet'
import { Random } from '@tokenlane/testing/random'
import { createExchange, type Exchange } from '../../src/limiter/exchange.ts'
import { FleetLimiter } from '../../src/limiter/fleet-limiter.ts'
import type { ErrorListener } from '../../src/limiter/link.ts'
import type { Runtime } from '../../src/limiter/runtime.ts'
import { type RedisClient, run as runText, runScript } from '../../src/redis-client.ts'
import * as scripts from '../../src/scripts.ts'
import { type Header, SimulatedServer, type SimulatedServerOptions } from './simulated-server.ts'
import { World } from './world.ts'

/** A limit of the API. */
interface RateLimit {
  readonly quota: number
  readonly window: number
}

/** The script, with a clock and a server that are simulated, and with keys that only the simulation deletes. */
const text = `local function nothing() end\n${scripts.limiter.text}`
  .replace("call('TIME')", 'cjson.decode(ARGV[2])')
  .replace("redis.pcall('INFO', 'server')", 'ARGV[3]')
  .replaceAll("call('PEXPIRE'", "nothing('PEXPIRE'")
const sha = createHash('sha1').update(text).digest('hex')

/** What is simulated; times in milliseconds. */
export interface SimulationOptions {
  /** A server that keeps the units. Its time is the simulation's. */
  readonly redis: RedisClient
  readonly seed: number
  readonly size: number
  readonly limits: readonly RateLimit[]
  readonly spread?: boolean
  /** How many calls of each process wait or are under way at any time. */
  readonly depth?: number
  /** How long an API call takes, at least and at most. */
  readonly apiTime?: readonly [number, number]
  readonly accounting?: Claim['accounting']
  /**
   * How long a request and how long a response travels, at least and at most; may differ by process. Without it each takes
   * half of `apiTime`.
   */
  readonly network?: (process: number) => readonly [number, number]
  /** How long an API call takes beside that. */
  readonly answerTime?: (random: () => number) => number
  /** How long a message to Redis and its answer travel together; may differ by process. */
  readonly roundTrip?: (process: number) => number
  /** Which part of that is the way to Redis; else another one each time. */
  readonly wayThere?: (process: number) => number
  /** By how much a timer or a response is late at most, on a machine that is busy; most are late by much less. */
  readonly lateness?: number
  readonly fallbackShare?: number
  readonly timeout?: number
  /** Whether each process keeps its units in its own memory, as one without Redis does. */
  readonly isAlone?: boolean
  /** What the API keeps and says in its headers, if that is not the policy of the fleet. */
  readonly server?: SimulatedServerOptions
}

/** What a simulated fleet did since a moment. */
export interface SimulationResult {
  readonly calls: number
  /** Calls over what the quota, the span of a unit and the mean API time make possible. */
  readonly rate: number
  readonly over: number
  readonly most: number
  readonly messagesPerCall: number
  readonly jain: number
  readonly idle: number
  /** The longest time that a process had between two calls. */
  readonly longestGap: number
}

let fleets = 0

/** A process with a clock, a link to Redis and calls of its own. */
export class SimulatedProcess {
  readonly index: number
  readonly runtime: Runtime
  /** Messages that got lost on the way: the client says so once it has a new connection. */
  readonly lost: (() => void)[] = []
  readonly errors = new Set<ErrorListener>()
  isDead = false
  calls = 0
  lastCallAt = 0
  longestGap = 0
  failures = 0
  readonly limiter: RateLimiter
  readonly #fleet: SimulatedFleet
  readonly #claim: Claim
  #isCut = false
  #isDeaf = false
  #waiting: number
  #stoppedUntil = 0
  #pausedUntil = 0
  #retry: () => void = () => {}

  constructor(fleet: SimulatedFleet, index: number, name: string) {
    const { options } = fleet
    const { limits, spread = false, depth = 3, fallbackShare = 1 / options.size, timeout = 500 } = options
    this.#fleet = fleet
    this.index = index
    this.#waiting = depth
    this.#claim = {
      key: 'all',
      cost: 1,
      limits: limits.map((limit) => ({ ...limit, series: '' })),
      interval: spread ? Math.max(...limits.map(({ quota, window }) => window / quota)) : 0,
      accounting: options.accounting ?? 'strict',
      unansweredGrace: undefined,
    }
    // clocks of machines differ by less than one in 10,000
    const pace = 1 + (fleet.random() - 0.5) * 1e-4
    const start = fleet.random() * 1e6
    const now = (): number => start + fleet.world.now * pace
    this.runtime = {
      now,
      moment: () => ({ wall: now(), monotonic: now() }),
      after: (ms, run) => this.#later(ms / pace, run),
      countdown: (ms, run) => {
        const end = now() + ms
        return {
          get left() {
            return end - now()
          },
          stop: this.#later(ms / pace, run),
        }
      },
      random: fleet.random,
    }
    const api: LimitedApi = {
      baseUrl: 'https://api.example.com/',
      unitsAvailable: () => this.serve(),
      heard: (word) => this.#pause(word.for),
      counted() {},
      failed: () => (this.failures += 1),
      recovered() {},
    }
    if (options.isAlone) {
      this.limiter = createRateLimiter(this.runtime)
      return
    }
    this.limiter = new FleetLimiter(api, {
      exchange: fleet.exchangeOf(this),
      name,
      fallbackShare,
      timeout,
      reconnectTime: 6_000,
      runtime: this.runtime,
      link: { errors: this.errors, isBypassed: false, bypass() {} },
    })
  }

  /** Whether nothing arrives in Redis, and nothing from it. */
  get isCut(): boolean {
    return this.#isCut
  }

  set isCut(isCut: boolean) {
    this.#isCut = isCut
    if (!isCut) for (const refuse of this.lost.splice(0)) refuse()
  }

  /** Whether messages arrive in Redis, and their answers get lost. */
  get isDeaf(): boolean {
    return this.#isDeaf
  }

  set isDeaf(isDeaf: boolean) {
    this.#isDeaf = isDeaf
    if (!isDeaf) for (const refuse of this.lost.splice(0)) refuse()
  }

  /** The process stands still. */
  stop(ms: number): void {
    this.#stoppedUntil = this.#fleet.world.now + ms
  }

  serve(): void {
    if (this.isDead) return
    this.#retry()
    const pause = this.#pausedUntil - this.#fleet.world.now
    if (pause > 0) {
      this.#retry = this.#later(pause, () => this.serve())
      return
    }
    while (this.#waiting > 0) {
      const permit = this.limiter.take(this.#claim, this.#waiting)
      if (typeof permit === 'number') {
        if (permit < Infinity) this.#retry = this.#later(permit, () => this.serve())
        return
      }
      this.#waiting -= 1
      this.#send(permit)
    }
  }

  #send(permit: Permit): void {
    const { world, random, options } = this.#fleet
    const { answerTime = () => 0, apiTime: [least, most] = [20, 20] } = options
    const [shortest, longest] = options.network?.(this.index) ?? [least / 2, most / 2]
    const travel = (): number => shortest + random() * (longest - shortest)
    const there = travel()
    const answer = answerTime(random)
    const back = travel()
    world.after(there, () => {
      const header = this.#fleet.arrive(this)
      // a refused call takes the API no time
      world.after((header?.isRefused ? 0 : answer) + back, () =>
        this.#later(0, () => {
          const isRefused = header?.isRefused ?? false
          permit.answered({ isRefused, cost: 1 })
          if (header && isRefused) {
            this.#pause(header.resetIn)
            this.limiter.tell({ about: 'pause', text: '429', for: header.resetIn })
          }
          permit.ended()
          this.#waiting += 1
          this.serve()
        }),
      )
    })
  }

  #pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#fleet.world.now + ms)
    this.serve()
  }

  /** A process that stands still does what it missed when it goes on. */
  #later(ms: number, run: () => void): () => void {
    const {
      world,
      random,
      options: { lateness = 0 },
    } = this.#fleet
    let isCancelled = false
    const fire = (): void => {
      if (isCancelled || this.isDead) return
      const rest = this.#stoppedUntil - world.now
      if (rest > 0) world.after(rest, fire)
      else run()
    }
    world.after(ms + lateness * random() ** 4, fire)
    return () => {
      isCancelled = true
    }
  }
}

/** Many processes, one Redis and one API that counts strictly, all in simulated time and from one seed. */
export class SimulatedFleet {
  readonly world = new World()
  readonly keys: Set<string> = new Set()
  readonly options: SimulationOptions
  readonly random: () => number
  readonly processes: SimulatedProcess[] = []
  readonly arrivals: number[] = []
  readonly server: SimulatedServer | undefined
  messages = 0
  /** Redis stands still until then, and does then what it was asked meanwhile. */
  stillUntil = 0
  /** Redis is not there until then. */
  downUntil = 0
  /** Redis' clock less that of the world. */
  clock = 1_790_000_000_000
  #names = 0
  #run = 'a'
  readonly #prefix: string

  constructor(options: SimulationOptions) {
    this.options = options
    this.random = new Random(options.seed).next
    this.#prefix = `simulated-${(fleets += 1)}-${globalThis.crypto.randomUUID()}`
    this.server = options.server && new SimulatedServer(options.server)
    for (let index = 0; index < options.size; index += 1) this.start(index)
  }

  /** Starts a process, in the place of another if there is one. */
  start(index: number): void {
    const before = this.processes[index]
    if (before) before.isDead = true
    const process = new SimulatedProcess(
      this,
      index,
      `process-${(this.#names += 1)}-${this.random().toString(36)}`,
    )
    process.isCut = before?.isCut ?? false
    process.calls = before?.calls ?? 0
    process.lastCallAt = before?.lastCallAt ?? 0
    this.processes[index] = process
    this.world.after(this.random() * 100, () => process.serve())
  }

  /** Counts a call, and returns what the API says in its response. */
  arrive(process: SimulatedProcess): Header | undefined {
    this.arrivals.push(this.world.now)
    process.calls += 1
    process.longestGap = Math.max(process.longestGap, this.world.now - process.lastCallAt)
    process.lastCallAt = this.world.now
    return this.server?.arrive(this.world.now)
  }

  /** Keys are lost on a server that runs on: all, or those with this in their name. */
  flush(part = ''): void {
    this.world.after(0, async () => {
      const keys = [...this.keys].filter((key) => key.includes(`:${part}`))
      await Promise.all(
        keys.map((key) => runText(this.options.redis, "return redis.call('DEL', KEYS[1])", [key], [])),
      )
    })
  }

  /** Redis is gone for so long, and comes back empty. */
  crash(ms: number): void {
    this.downUntil = this.world.now + ms
    this.flush()
    this.#run = `run${Math.floor(this.world.now)}`
  }

  /** Returns how a process exchanges with Redis. */
  exchangeOf(process: SimulatedProcess): Exchange {
    const link = {
      run: (_: unknown, keys: string[], args: string[]) => this.#exchange(process, keys, args),
    }
    return createExchange(link, this.#prefix, 'https://api.example.com/')
  }

  #exchange(process: SimulatedProcess, keys: string[], args: string[]): Promise<unknown> {
    const roundTrip = this.options.roundTrip?.(process.index) ?? 0.4 + this.random()
    const there = roundTrip * (this.options.wayThere?.(process.index) ?? 0.3 + 0.4 * this.random())
    for (const key of keys) this.keys.add(key)
    return new Promise((resolve, reject) => {
      const refuse = (): void => reject(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }))
      const arrive = async (): Promise<void> => {
        if (process.isCut) return void process.lost.push(refuse)
        if (this.world.now < this.downUntil) return refuse()
        const rest = this.stillUntil - this.world.now
        if (rest > 0) return void this.world.after(rest, arrive)
        this.messages += 1
        const now = this.clock + this.world.now
        const clock = JSON.stringify([Math.floor(now / 1_000), Math.floor((now % 1_000) * 1_000)])
        const reply = await runScript(this.options.redis, { text, sha }, keys, [
          ...args,
          clock,
          `run_id:${this.#run}`,
        ])
        this.world.after(roundTrip - there, () => {
          if (process.isCut || process.isDeaf) process.lost.push(refuse)
          else process.runtime.after(0, () => resolve(reply))
        })
      }
      this.world.after(there, arrive)
    })
  }

  /** No process reaches Redis for so long, and each comes back with the next attempt of its client. */
  reconnect(ms: number): void {
    for (const each of this.processes) {
      each.isCut = true
      this.world.after(nextAttempt(ms, this.random), () => (each.isCut = false))
    }
  }

  async run(ms: number): Promise<void> {
    await this.world.run(this.world.now + ms)
  }

  /** Begins to count anew. */
  reset(): void {
    this.messages = 0
    this.arrivals.length = 0
    for (const process of this.processes) {
      process.calls = 0
      process.lastCallAt = this.world.now
      process.longestGap = 0
    }
  }

  /** What happened in the last `ms`, since `reset`. */
  result(ms: number): SimulationResult {
    const { limits, apiTime: [least, most] = [20, 20] } = this.options
    const counts = this.processes.map(({ calls }) => calls)
    const calls = counts.reduce((sum, each) => sum + each, 0)
    const squares = counts.reduce((sum, each) => sum + each * each, 0)
    const possible = Math.min(
      ...limits.map(({ quota, window }) => (quota * ms) / (window + (least + most) / 2)),
    )
    const gaps = this.processes.map(({ longestGap, lastCallAt }) =>
      Math.max(longestGap, this.world.now - lastCallAt),
    )
    return {
      calls,
      rate: calls / possible,
      over: Math.max(...limits.map((limit) => overOf(this.arrivals, limit))),
      most: mostIn(this.arrivals, limits[0]?.window ?? 0),
      messagesPerCall: this.messages / calls,
      jain: calls ** 2 / (counts.length * squares),
      idle: counts.filter((count) => count === 0).length,
      longestGap: Math.max(...gaps),
    }
  }
}

/** Returns when a client with the default settings of ioredis, the slower of the two, tries again first after `ms`. */
function nextAttempt(ms: number, random: () => number): number {
  let at = 0
  for (let delay = 50; at < ms; delay *= 2) at += Math.min(delay, 5_000) + 200 * random()
  return at
}

/** How many arrivals a strict server finds beyond a quota. */
function overOf(arrivals: readonly number[], { quota, window }: RateLimit): number {
  let over = 0
  for (let index = quota; index < arrivals.length; index += 1)
    if ((arrivals[index] ?? 0) - (arrivals[index - quota] ?? 0) <= window) over += 1
  return over
}

function mostIn(arrivals: readonly number[], window: number): number {
  let most = 0
  let first = 0
  for (const [index, at] of arrivals.entries()) {
    while (at - (arrivals[first] ?? 0) > window) first += 1
    most = Math.max(most, index - first + 1)
  }
  return most
}
