import PQueue from 'p-queue'
import type { AccessToken } from './access-token.ts'
import { checkPriority } from './call-options.ts'
import { TokenlaneError } from './errors.ts'
import type { Emit } from './events.ts'
import { createRateLimiter, type Permit, type RateLimiter } from './rate-limiter.ts'
import type { CheckedPolicy } from './rate-policy.ts'
import type { RenewingToken } from './renewing-token.ts'

/** What a call holds while it may send: a live token, a permit, and a slot until it leaves the lane. */
export interface Turn {
  readonly token: AccessToken
  /** `undefined` where the API has no limits to keep. */
  readonly permit?: Permit
}

/** How a call wants to wait. */
export interface LaneOptions {
  readonly signal: AbortSignal | undefined
  /** Higher goes first; equal ones go in order. */
  readonly priority: number
  /** Whether the call was under way already: then it goes first and is never refused. */
  readonly again: boolean
}

/** Before every priority that a caller can give. */
const first = Number.MAX_SAFE_INTEGER

/**
 * The line in front of one API with a rate policy.
 *
 * First it is decided when the next call may go (slot, live token, permit), then who goes: the first in line at
 * that moment. p-queue keeps the line: order, priority, abort. Its tasks only take the turn that is there.
 */
export class Lane {
  readonly #api: string
  readonly #policy: CheckedPolicy
  readonly #token: RenewingToken
  readonly #emit: Emit
  readonly #limiter: RateLimiter
  readonly #line = new PQueue({ autoStart: false })
  #running = 0
  #pausedUntil = Number.NEGATIVE_INFINITY
  #serving = false
  #wake: (() => void) | undefined
  #turn: Turn | TokenlaneError | undefined
  /** While the lane closes: how those line up again who may end. */
  #spared: (() => void)[] | undefined

  constructor(api: string, policy: CheckedPolicy, token: RenewingToken, emit: Emit) {
    this.#api = api
    this.#policy = policy
    this.#token = token
    this.#emit = emit
    this.#limiter = createRateLimiter(policy.limits, policy.spread)
  }

  /**
   * Waits for a turn.
   *
   * @throws TokenlaneError `QUEUE_FULL`, `QUEUE_TIMEOUT`, or why there is no token; the signal's reason.
   */
  enter(options: LaneOptions): Turn | Promise<Turn> {
    checkPriority(options.priority, 'priority')
    const turn = this.#line.size === 0 && !this.#serving ? this.#next() : undefined
    if (isTurn(turn)) {
      this.#emit?.({ type: 'call.sent', api: this.#api, waited: 0, queued: 0 })
      return turn
    }
    if (!options.again) this.#mustHaveRoom(options.priority)
    return this.#queue(options)
  }

  /** Gives the slot back. */
  leave(): void {
    this.#running -= 1
    this.#changed()
  }

  /** An answer has come, so that units may come free. */
  answered(): void {
    this.#changed()
  }

  /** Nothing goes out for so many milliseconds. */
  pause(ms: number, status: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + ms)
    this.#emit?.({ type: 'api.paused', api: this.#api, for: ms, status })
  }

  /** Refuses everybody who waits, but for those who were under way already. */
  close(error: TokenlaneError): void {
    this.#spared = []
    while (this.#line.size > 0) this.#hand(error)
    for (const line of this.#spared) line()
    this.#spared = undefined
    this.#changed()
  }

  status(): { queued: number; running: number; pausedUntil?: string } {
    const pause = this.#pausedUntil - performance.now()
    return {
      queued: this.#line.size,
      running: this.#running,
      ...(pause > 0 && { pausedUntil: new Date(Date.now() + pause).toISOString() }),
    }
  }

  async #queue({ signal, priority, again }: LaneOptions): Promise<Turn> {
    const enteredAt = performance.now()
    const tooLate = again ? undefined : this.#policy.maxWait
    const wait = new Wait(signal, tooLate, () => this.#timeout())
    try {
      const turn = await new Promise<Turn>((resolve, reject) => {
        const line = (): void => {
          // a turn that was taken counts, even if the signal aborts in the same moment: its owner gives it back
          this.#line.add(task, { priority: again ? first : priority, signal: wait.signal }).catch(reject)
        }
        const task = (): void => {
          const handed = this.#turn
          this.#turn = undefined
          this.#line.pause()
          if (isTurn(handed)) resolve(handed)
          else if (again && this.#spared !== undefined) this.#spared.push(line)
          else reject(handed)
        }
        line()
        this.#emit?.({ type: 'call.queued', api: this.#api, queued: this.#line.size })
        void this.#serve()
      })
      const waited = performance.now() - enteredAt
      this.#emit?.({ type: 'call.sent', api: this.#api, waited, queued: this.#line.size })
      return turn
    } catch (error) {
      // the line may be empty now
      this.#changed()
      throw error
    } finally {
      wait.end()
    }
  }

  /** Serves the line until it is empty. */
  async #serve(): Promise<void> {
    if (this.#serving) return
    this.#serving = true
    try {
      let waitedFor: AccessToken | undefined
      while (this.#line.size > 0) {
        const next = this.#next(waitedFor)
        waitedFor = undefined
        if (isTurn(next)) this.#hand(next)
        else if (next === 'token') waitedFor = await this.#renew()
        else await this.#change(next)
      }
    } finally {
      this.#serving = false
    }
  }

  /**
   * The next turn, or what it waits for: a token, or a change within so many milliseconds. Who waited for a token
   * may be given an old one, and uses it: it is the best there is.
   */
  #next(waitedFor?: AccessToken): Turn | 'token' | number {
    if (this.#running >= this.#policy.concurrency) return Infinity
    const pause = this.#pausedUntil - performance.now()
    if (pause > 0) return pause
    const token = this.#token.live() ?? waitedFor
    if (token === undefined) return 'token'
    const permit = this.#limiter.take()
    if (typeof permit === 'number') return permit
    this.#running += 1
    return { token, permit }
  }

  async #renew(): Promise<AccessToken | undefined> {
    try {
      return await this.#token.wait(undefined)
    } catch (error) {
      this.#hand(error as TokenlaneError)
      return undefined
    }
  }

  /** Gives the turn to the first in line, or takes it back if nobody is left. */
  #hand(turn: Turn | TokenlaneError): void {
    this.#turn = turn
    this.#line.start()
    this.#line.pause()
    if (this.#turn === undefined) return
    this.#turn = undefined
    if (!isTurn(turn)) return
    turn.permit?.cancel()
    this.#running -= 1
  }

  #change(within: number): Promise<void> {
    return new Promise((resolve) => {
      // a timer may fire early, and no longer than this
      const timer =
        within === Infinity ? undefined : setTimeout(resolve, Math.min(Math.ceil(within), 2_147_483_647))
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #changed(): void {
    this.#wake?.()
    this.#wake = undefined
  }

  #mustHaveRoom(priority: number): void {
    const { maxQueued, maxWait } = this.#policy
    if (this.#line.size >= maxQueued)
      throw new TokenlaneError(
        'QUEUE_FULL',
        `Cannot queue call: ${maxQueued} calls wait for ${this.#api} already (\`maxQueued\`)`,
      )
    // a call that goes before others may not have to wait for them
    const ahead = priority > 0 ? 1 : this.#line.size + 1
    const pause = this.#pausedUntil - performance.now()
    if (maxWait !== undefined && Math.max(pause, this.#limiter.leastWait(ahead)) > maxWait)
      throw this.#timeout()
  }

  #timeout(): TokenlaneError {
    return new TokenlaneError(
      'QUEUE_TIMEOUT',
      `Cannot send call: it waits longer than ${this.#policy.maxWait} ms for ${this.#api} (\`maxWait\`)`,
    )
  }
}

function isTurn(value: unknown): value is Turn {
  return typeof value === 'object' && value !== null && 'token' in value
}

/** The signal of one wait: the caller's, and the end of the time it may take. */
class Wait {
  readonly signal: AbortSignal | undefined
  readonly #caller: AbortSignal | undefined
  readonly #timer: ReturnType<typeof setTimeout> | undefined
  readonly #forward: (() => void) | undefined

  constructor(caller: AbortSignal | undefined, maxWait: number | undefined, tooLate: () => TokenlaneError) {
    this.#caller = caller
    this.signal = caller
    if (maxWait === undefined) return
    const controller = new AbortController()
    this.signal = controller.signal
    this.#timer = setTimeout(() => controller.abort(tooLate()), maxWait)
    this.#forward = () => controller.abort(caller?.reason)
    caller?.addEventListener('abort', this.#forward, { once: true })
  }

  end(): void {
    clearTimeout(this.#timer)
    if (this.#forward) this.#caller?.removeEventListener('abort', this.#forward)
  }
}
