import {
  createUnansweredGrace,
  type LimitedApi,
  type NotBefore,
  type Permit,
  type RateLimiterOptions,
  type UnansweredGrace,
} from '@tokenlane/core/fleet'
import { AnswerTimes } from './answer-times.ts'
import { Contact } from './contact.ts'
import { Conversation } from './conversation.ts'
import { reasonOf } from './failure-reason.ts'
import { FleetPermit, type PermitOwner } from './fleet-permit.ts'
import { fleetPolicy, longestUntold, shortestSpan, type FleetPolicy } from './fleet-policy.ts'
import { FleetPause } from './fleet-pause.ts'
import { Grants } from './grants.ts'
import { type Batch, Ledger, lease } from './ledger.ts'
import { Membership } from './membership.ts'
import type { Answer, Exchange, Message } from './protocol.ts'
import type { Runtime, Timer } from './runtime.ts'

/** What the budget reports. */
export interface BudgetListener {
  /** Units are due: calls may take them now. */
  unitsAvailable(): void
  /** Redis cannot be reached. */
  lost(reason: string): void
  /** Redis answers again. */
  found(): void
  paused(ms: number): void
  resumed(): void
}

/**
 * The budget that all processes share, seen from one of them.
 *
 * A process speaks when calls wait for units and its turn has come, when Redis must hear of its units, and when it
 * has news. Each message states everything, and asks for what calls could use; the answer grants units ahead, each
 * with the time at which it is due, or says when to ask again.
 */
export class SharedBudget {
  readonly #runtime: Runtime
  readonly #listener: BudgetListener
  readonly #conversation: Conversation<Message, Answer | 'stale'>
  readonly #ledger: Ledger
  readonly #grants = new Grants()
  readonly #answerTimes = new AnswerTimes()
  readonly #pause = new FleetPause()
  readonly #contact = new Contact()
  /** Where this process stands among the others. */
  readonly membership: Membership
  readonly #grace: UnansweredGrace
  readonly #owner: PermitOwner = {
    ended: (batch, answered) => {
      this.#answerTimes.add(this.#runtime.now() - batch.dueAt)
      this.#ended(batch, answered)
    },
    unused: (batch) => this.#giveBack(batch, 1),
  }
  /** Of units that Redis did not grant: when they were due says nothing of how long Redis' units take. */
  readonly #shareOwner: PermitOwner = {
    ended: (batch, answered) => this.#ended(batch, answered),
    unused: (batch) => this.#giveBack(batch, 1),
  }
  #policy: FleetPolicy
  #accounting: LimitedApi['accounting']
  #wanted = 0
  /** The last message, and whether Redis has answered it. */
  #said: Message | undefined
  #isHeard = true
  /** Whether Redis has this process in its queue. */
  #isQueued = false
  #askAt = Number.NEGATIVE_INFINITY
  #soonestAt = Number.NEGATIVE_INFINITY
  /** Since when a response waits to be reported to Redis. */
  #untoldSince = Infinity
  #hasNews = false
  #isSpeaking = false
  #isClosed = false
  /** Called when the last message is answered, or cannot be. */
  #ending: (() => void) | undefined
  #planTimer: Timer | undefined
  #dueTimer: Timer | undefined

  constructor(
    api: LimitedApi,
    exchange: Exchange,
    name: string,
    timeout: number,
    runtime: Runtime,
    listener: BudgetListener,
  ) {
    this.#runtime = runtime
    this.#listener = listener
    this.membership = new Membership(name)
    this.#policy = fleetPolicy(api.limits, api.spread)
    this.#accounting = api.accounting
    this.#grace = createUnansweredGrace(api.unansweredGrace)
    this.#ledger = new Ledger(this.#policy)
    this.#conversation = new Conversation(exchange, runtime, timeout, {
      heard: (answer, sentAt) => this.#hear(answer, sentAt),
      silent: (reason) => this.#lose(reason),
      free: () => this.#goOn(),
    })
  }

  get policy(): FleetPolicy {
    return this.#policy
  }

  /** Returns a permit for a unit that is due; else asks Redis for `couldUse` units, and reports when they are due. */
  take(couldUse: number): Permit | NotBefore {
    const batch = this.#grants.take(this.#runtime.now())
    this.#wanted = batch === undefined ? couldUse : couldUse - 1
    if (batch !== undefined) return this.#permit(batch)
    this.#plan()
    return Infinity
  }

  /** Returns a permit for a unit of the process's own share, of which Redis hears when it is back. */
  takeShare(share: Permit): Permit {
    const now = this.#runtime.now()
    return this.#permit(this.#ledger.open(1, now, now, Number.NEGATIVE_INFINITY), share)
  }

  /** As if the units to come were for this process alone. */
  forecast(ahead: number, roundTrip: number, from: number): number {
    const now = this.#runtime.now()
    const granted = this.#grants.count
    if (ahead <= granted) return Math.max(from, this.#grants.dueAt(ahead), now) - now
    const askAt = this.#wanted > 0 && granted === 0 ? this.#askAt : now
    const start = Math.max(now, from, this.#soonestAt, askAt)
    const lag = this.#accounting === 'send' ? 0 : roundTrip
    const others = ahead - granted - 1
    let wait = others * this.#policy.interval
    for (const { quota, span } of this.#policy.limits)
      wait = Math.max(wait, Math.floor(others / quota) * (span + lag))
    return start - now + wait
  }

  noWaiters(): void {
    this.#wanted = 0
    this.#drop(Infinity)
    this.#plan()
  }

  pause(ms: number): void {
    this.#pause.begin(this.#runtime.now(), ms)
    this.#tell()
  }

  resume(): void {
    this.#pause.lift()
    this.#askAt = Number.NEGATIVE_INFINITY
    this.#tell()
  }

  setPolicy({ limits, spread, accounting }: RateLimiterOptions): void {
    this.#policy = fleetPolicy(limits, spread)
    this.#ledger.policy = this.#policy
    this.#accounting = accounting
    this.#askAt = Number.NEGATIVE_INFINITY
    this.#drop(Infinity)
    this.#tell()
  }

  /** Tells Redis what is left to tell, and ends; a Redis that does not answer in time holds nothing up. */
  async close(): Promise<void> {
    this.#wanted = 0
    this.#drop(Infinity)
    const isNews = this.#hasNews || this.#untoldSince < Infinity || this.#isQueued
    this.#isClosed = true
    this.#planTimer?.cancel()
    this.#dueTimer?.cancel()
    if (!this.#contact.isAway && isNews && this.#said !== undefined) await this.#lastWord()
    this.#conversation.close()
  }

  #lastWord(): Promise<void> {
    return new Promise((resolve) => {
      this.#ending = resolve
      this.#plan()
    })
  }

  #permit(batch: Batch, share?: Permit): Permit {
    const permit = new FleetPermit(share ? this.#shareOwner : this.#owner, batch, share)
    if (this.#accounting === 'send') permit.answered()
    return permit
  }

  #ended(batch: Batch, answered: boolean): void {
    const now = this.#runtime.now()
    if (answered) this.#grace.sawRoundTrip(now - batch.dueAt)
    else this.#grace.sawNoResponse(now - batch.dueAt)
    const at = answered ? now : now + this.#grace.ms
    // Redis need not hear of a unit that is answered as was promised
    const isAsPromised = at <= batch.presumedAt && batch.presumedAt - at < shortestSpan(this.#policy) / 32
    this.#ledger.settle(batch, at)
    if (!isAsPromised) this.#untoldSince = Math.min(this.#untoldSince, now)
    this.#plan()
  }

  #giveBack(batch: Batch, count: number): void {
    this.#ledger.giveBack(batch, count)
    this.#tell()
  }

  #tell(): void {
    this.#hasNews = true
    this.#plan()
  }

  /** What Redis did not hear is news again. */
  #goOn(): void {
    if (!this.#isHeard) this.#hasNews = true
    this.#plan()
  }

  /** Sees to it that the next message goes when it must. */
  #plan(): void {
    this.#planTimer?.cancel()
    if (!this.#conversation.isFree || this.#isSpeaking) return
    const at = this.#speakAt()
    if (at === Infinity) return
    const wait = at - this.#runtime.now()
    if (wait > 0) this.#planTimer = this.#runtime.after(wait, () => this.#plan(), this.#wanted === 0)
    else void this.#speak()
  }

  #speakAt(): number {
    if (this.#isClosed) return this.#ending === undefined ? Infinity : Number.NEGATIVE_INFINITY
    const leaves = this.#isQueued && this.#needed() === 0
    if (this.#contact.isAway || this.#hasNews || leaves) return Number.NEGATIVE_INFINITY
    const tellAt = this.#untoldSince + this.#longestUntold
    const askAt = this.#needed() > 0 ? this.#askAt : Infinity
    return Math.min(tellAt, askAt, this.#ledger.tellAt)
  }

  get #longestUntold(): number {
    return Math.min(longestUntold, shortestSpan(this.#policy) / 4)
  }

  #needed(): number {
    return Math.max(0, this.#wanted - this.#grants.count)
  }

  async #speak(): Promise<void> {
    this.#isSpeaking = true
    // so that the message has everything that happens in this turn of the event loop
    await Promise.resolve()
    this.#isSpeaking = false
    if (!this.#conversation.isFree) return
    const now = this.#runtime.now()
    const promise = this.#answerTimes.promise(shortestSpan(this.#policy))
    this.#said = {
      policy: this.#policy,
      ...this.membership.introduce(),
      ...this.#pause.say(now),
      ...this.#contact.say(now),
      units: this.#ledger.state(now),
      wanted: this.#contact.isAway ? 0 : this.#needed(),
      promise: promise ?? lease,
      lag: promise ?? this.#answerTimes.mean,
    }
    this.#isHeard = false
    this.#hasNews = false
    this.#untoldSince = Infinity
    this.#conversation.say(this.#said)
  }

  #hear(answer: Answer | 'stale', sentAt: number): void {
    const said = this.#said
    if (answer === 'stale' || said === undefined) {
      this.#hasNews = true
      return
    }
    const now = this.#runtime.now()
    const { wait, soonest, pause } = answer
    this.#isHeard = true
    this.membership.hear(answer, now)
    this.#askAt = now + wait - Math.min(this.#conversation.roundTrip, wait / 2)
    this.#soonestAt = now + soonest
    if (pause > 0) this.#listener.paused(pause)
    if (this.#pause.hear(now, said, pause) === 'lifted') this.#listener.resumed()
    const contact = this.#contact.hear(said)
    if (contact === 'found') {
      this.#askAt = Number.NEGATIVE_INFINITY
      this.#hasNews = true
      this.#listener.found()
    }
    this.#hearGrants(answer, said, sentAt)
    if (contact === 'outdated') this.#drop(Infinity)
    this.#ending?.()
  }

  #hearGrants({ grants }: Answer, { wanted, promise }: Message, sentAt: number): void {
    const now = this.#runtime.now()
    let granted = 0
    for (const [due, count] of grants) {
      const dueAt = sentAt + due
      // what was promised and is late may still come before it is worth a message
      const tellAt = promise === lease ? dueAt + lease / 3 : dueAt + promise + this.#longestUntold
      // a process that stood still or is cut off cannot say in time that its units are under way
      const useBy = promise === lease ? dueAt + 0.7 * lease : tellAt
      this.#grants.add(now + due, useBy, this.#ledger.open(count, dueAt, dueAt + promise, tellAt), count)
      granted += count
    }
    this.#isQueued = wanted > granted
    if (granted > 0 && !this.#contact.isAway) this.#handOut()
  }

  /** Lets calls take the units that are due, and gives back what no call takes. */
  #handOut(): void {
    this.#dueTimer?.cancel()
    if (this.#grants.nextDueAt <= this.#runtime.now()) {
      this.#listener.unitsAvailable()
      this.#drop(this.#runtime.now())
    }
    const wait = this.#grants.nextDueAt - this.#runtime.now()
    if (wait < Infinity) this.#dueTimer = this.#runtime.after(wait, () => this.#handOut())
  }

  #drop(until: number): void {
    for (const { batch, left } of this.#grants.drop(until)) this.#giveBack(batch, left)
  }

  #lose(reason: unknown): void {
    this.#contact.lose(this.#conversation.silentSince)
    this.#isQueued = false
    this.#ending?.()
    this.#listener.lost(reasonOf(reason))
  }
}
