import { randomUUID } from 'node:crypto'
import { unitSpan, type LimitedApi } from '@tokenlane/core/fleet'
import { runScript, type RedisClient } from './redis-client.ts'
import { limiterScript } from './limiter-script.ts'

/** What a process tells, and what it wants. */
export interface Message {
  /** Whether it kept to its own share until now. */
  readonly rejoins: boolean
  /** Units that it holds, ready ones included. */
  readonly held: number
  /** How many more it could use now. */
  readonly wanted: number
  /** For how long nobody shall send, in milliseconds; 0 for no pause. */
  readonly pause: number
  /** Units that were answered, and so many milliseconds ago. */
  readonly settled: readonly { readonly number: number; readonly age: number }[]
}

/** What Redis says; times are milliseconds from now. */
export interface Answer {
  readonly granted: number
  /** Before that the units that were granted are not free. */
  readonly delay: number
  /** When to come back for the rest that was wanted. */
  readonly wait: number
  /** Before that nobody gets a unit. */
  readonly soonest: number
  readonly pause: number
  /** Whether it is another Redis than before, or one that was emptied. */
  readonly forgot: boolean
}

/** How long a process that is silent is believed to use its units still, in milliseconds. */
export const lease = 5_000
/** What processes that kept to their own shares need, after Redis is back, until all have told so. */
const rejoining = 500
/** For how long at most all stop that do not know what was sent before, in milliseconds. */
const longestQuiet = 60_000

/** An API may ask for any pause, and Redis counts only so far: the others are told of a year at most. */
const longestPause = 365 * 86_400_000

/** The budget of one API as Redis keeps it: one script, whose message and answer are put into words here. */
export class Budget {
  /** How long a unit stays used after it was answered, in the longest and in the shortest of the limits. */
  readonly longest: number
  readonly shortest: number
  /** Between one unit and the next, with `spread`; else 0. */
  readonly interval: number
  /** For how long nothing may go where it is not known what the fleet has sent. */
  readonly quiet: number
  readonly #client: RedisClient
  readonly #keys: string[]
  readonly #policy: string[]
  readonly #me: string = randomUUID()
  #number = 0
  #epoch = ''
  #heardAt = Number.NEGATIVE_INFINITY

  constructor(client: RedisClient, prefix: string, { baseUrl, limits, spread }: LimitedApi, timeout: number) {
    const spans = limits.map(({ window }) => unitSpan(window))
    this.longest = Math.max(0, ...spans)
    this.shortest = Math.min(longestQuiet, ...spans)
    this.quiet = Math.min(longestQuiet, this.longest)
    this.#client = client
    // a cluster keeps what is in the braces in one place
    const parts = ['state', 'settled', 'live', 'seen', 'alive', 'queue', 'due']
    this.#keys = parts.map((part) => `${prefix}:limiter:{${baseUrl}}:${part}`)
    this.interval = spread ? Math.max(0, ...limits.map(({ quota, window }) => window / quota)) : 0
    const fixed = [this.interval, lease, timeout + rejoining, this.quiet, limits.length]
    this.#policy = [...fixed, ...limits.flatMap(({ quota, window }) => [quota, unitSpan(window)])].map(String)
  }

  /** @throws what the client throws, and `Error` for an answer that is none. */
  async exchange({ rejoins, held, wanted, pause, settled }: Message): Promise<Answer> {
    this.#number += 1
    // what is older than all windows tells nothing, and its keys may be gone rightly
    const known = performance.now() - this.#heardAt < this.longest ? this.#epoch : ''
    const said = [this.#me, this.#number, known, rejoins ? 1 : 0, held, wanted, Math.min(pause, longestPause)]
    const units = settled.flatMap(({ number, age }) => [String(number), age.toFixed(3)])
    const args = [...said.map(String), ...this.#policy, ...units]
    const { epoch, ...answer } = read(await runScript(this.#client, limiterScript, this.#keys, args))
    this.#epoch = epoch
    this.#heardAt = performance.now()
    return { ...answer, forgot: known !== '' && known !== epoch }
  }
}

function read(answer: unknown): Omit<Answer, 'forgot'> & { epoch: string } {
  const fields: unknown[] = Array.isArray(answer) ? answer : []
  const epoch = fields.pop()
  const numbers = fields.map(Number)
  const [granted = -1, delay = 0, wait = 0, soonest = 0, pause = 0] = numbers
  if (numbers.length !== 5 || !numbers.every((each) => each >= 0) || typeof epoch !== 'string')
    throw new Error('not an answer of the limiter')
  // the script speaks in microseconds, since Redis takes whole numbers only
  return {
    granted,
    delay: delay / 1_000,
    wait: wait / 1_000,
    soonest: soonest / 1_000,
    pause: pause / 1_000,
    epoch,
  }
}
