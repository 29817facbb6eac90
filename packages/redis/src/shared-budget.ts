import type { LimitedApi, NotBefore, Permit, RateLimiterOptions } from '@tokenlane/core/fleet'
import { Contact } from './contact.ts'
import { Conversation } from './conversation.ts'
import { Demand } from './demand.ts'
import { reasonOf } from './failure-reason.ts'
import { fleetPolicy, longestUntold, shortestSpan, type FleetPolicy } from './fleet-policy.ts'
import { FleetPause } from './fleet-pause.ts'
import { type Batch, Ledger, lease } from './ledger.ts'
import { Membership } from './membership.ts'
import { News } from './news.ts'
import type { Answer, Exchange, Message } from './protocol.ts'
import type { Runtime } from './runtime.ts'
import { Speaker } from './speaker.ts'
import { UnitsAhead } from './units-ahead.ts'
import { UnitsInUse } from './units-in-use.ts'

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
 *
 * | part           | what it knows, with its states                                            |
 * | -------------- | ------------------------------------------------------------------------- |
 * | `Contact`      | whether Redis is reached: `together`, `away`, `returning`                  |
 * | `Conversation` | the message under way: `free`, `asking`, `resting`                         |
 * | `Speaker`      | when the next message goes: `waiting`, `last word`, `closing`, `closed`    |
 * | `News`         | what Redis must hear: none, can wait, urgent                               |
 * | `Demand`       | what calls could use, and when the turn of the process comes               |
 * | `UnitsAhead`   | units that are granted and not taken                                       |
 * | `UnitsInUse`   | units of calls under way                                                   |
 * | `Ledger`       | all units that count in a window                                           |
 * | `FleetPause`   | the pause of this process, and that of all                                 |
 * | `Membership`   | the name and number of the process, and what it heard last                 |
 */
export class SharedBudget {
  readonly #runtime: Runtime
  readonly #listener: BudgetListener
  readonly #conversation: Conversation<Message, Answer | 'stale'>
  readonly #speaker: Speaker
  readonly #contact = new Contact()
  readonly #news = new News()
  readonly #demand = new Demand()
  readonly #ledger: Ledger
  readonly #ahead: UnitsAhead
  readonly #inUse: UnitsInUse
  readonly #pause = new FleetPause()
  /** Where this process stands among the others. */
  readonly membership: Membership
  #policy: FleetPolicy
  /** The last message. */
  #said: Message | undefined

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
    this.#ledger = new Ledger(this.#policy)
    const unused = (batch: Batch, count: number): void => this.#giveBack(batch, count)
    this.#ahead = new UnitsAhead(runtime, this.#ledger, { due: () => listener.unitsAvailable(), unused })
    this.#inUse = new UnitsInUse(api, runtime, this.#ledger, { ended: (late) => this.#ended(late), unused })
    this.#conversation = new Conversation(exchange, runtime, timeout, {
      heard: (answer, sentAt) => this.#hear(answer, sentAt),
      silent: (reason) => this.#lose(reason),
      free: () => this.#goOn(),
    })
    this.#speaker = new Speaker(runtime, {
      isFree: () => this.#conversation.isFree,
      isIdle: () => this.#demand.isNone,
      speakAt: () => this.#speakAt(),
      say: () => this.#say(),
    })
  }

  get policy(): FleetPolicy {
    return this.#policy
  }

  /** Returns a permit for a unit that is due; else asks Redis for `couldUse` units, and reports when they are due. */
  take(couldUse: number): Permit | NotBefore {
    const batch = this.#ahead.take()
    this.#demand.want(batch === undefined ? couldUse : couldUse - 1)
    if (batch !== undefined) return this.#inUse.permit(batch)
    this.#speaker.plan()
    return Infinity
  }

  /** Returns a permit for a unit of the process's own share. */
  takeShare(share: Permit): Permit {
    return this.#inUse.sharePermit(share)
  }

  /** As if the units to come were for this process alone. */
  forecast(ahead: number, roundTrip: number, from: number): number {
    const now = this.#runtime.now()
    const granted = this.#ahead.count
    if (ahead <= granted) return Math.max(from, this.#ahead.dueAt(ahead), now) - now
    const start = Math.max(from, this.#demand.soonest(granted, now))
    const lag = this.#inUse.accounting === 'send' ? 0 : roundTrip
    const others = ahead - granted - 1
    let wait = others * this.#policy.interval
    for (const { quota, span } of this.#policy.limits)
      wait = Math.max(wait, Math.floor(others / quota) * (span + lag))
    return start - now + wait
  }

  noWaiters(): void {
    this.#demand.want(0)
    this.#ahead.drop(Infinity)
    this.#speaker.plan()
  }

  pause(ms: number): void {
    this.#pause.begin(this.#runtime.now(), ms)
    this.#tell()
  }

  resume(): void {
    this.#pause.lift()
    this.#demand.askAtOnce()
    this.#tell()
  }

  setPolicy({ limits, spread, accounting }: RateLimiterOptions): void {
    this.#policy = fleetPolicy(limits, spread)
    this.#ledger.policy = this.#policy
    this.#inUse.accounting = accounting
    this.#demand.askAtOnce()
    this.#ahead.drop(Infinity)
    this.#tell()
  }

  /** Tells Redis what is left to tell, and ends; a Redis that does not answer in time holds nothing up. */
  async close(): Promise<void> {
    this.#demand.want(0)
    this.#ahead.drop(Infinity)
    this.#ahead.stop()
    const isNews = !this.#news.isNone || this.#demand.isQueued
    await this.#speaker.close(!this.#contact.isAway && isNews && this.#said !== undefined)
    this.#conversation.close()
  }

  /** Redis need not hear of a unit that is answered as was promised. */
  #ended(late: number): void {
    const isAsPromised = late <= 0 && -late < shortestSpan(this.#policy) / 32
    if (!isAsPromised) this.#news.addResponse(this.#runtime.now())
    this.#speaker.plan()
  }

  #giveBack(batch: Batch, count: number): void {
    this.#ledger.giveBack(batch, count)
    this.#tell()
  }

  #tell(): void {
    this.#news.add()
    this.#speaker.plan()
  }

  #goOn(): void {
    this.#news.repeat()
    this.#speaker.plan()
  }

  #speakAt(): number {
    if (this.#contact.isAway) return Number.NEGATIVE_INFINITY
    const tellAt = this.#news.tellAt(this.#longestUntold)
    return Math.min(tellAt, this.#demand.speakAt(this.#ahead.count), this.#ledger.tellAt)
  }

  get #longestUntold(): number {
    return Math.min(longestUntold, shortestSpan(this.#policy) / 4)
  }

  #say(): void {
    const now = this.#runtime.now()
    const { answerTimes } = this.#inUse
    const promise = answerTimes.promise(shortestSpan(this.#policy))
    this.#said = {
      policy: this.#policy,
      ...this.membership.introduce(),
      ...this.#pause.say(now),
      ...this.#contact.say(now),
      units: this.#ledger.state(now),
      wanted: this.#contact.isAway ? 0 : this.#demand.beyond(this.#ahead.count),
      promise: promise ?? lease,
      lag: promise ?? answerTimes.mean,
    }
    this.#news.leave()
    this.#conversation.say(this.#said)
  }

  #hear(answer: Answer | 'stale', sentAt: number): void {
    const said = this.#said
    if (answer === 'stale' || said === undefined) return this.#news.add()
    const now = this.#runtime.now()
    this.#news.arrive()
    this.membership.hear(answer, now)
    this.#demand.hear(answer, now, this.#conversation.roundTrip)
    this.#hearPause(answer, said)
    const contact = this.#contact.hear(said)
    if (contact === 'found') this.#find()
    const granted = this.#ahead.add(answer, said, sentAt, this.#longestUntold)
    this.#demand.queue(said.wanted > granted)
    if (contact === 'outdated') this.#ahead.drop(Infinity)
    else if (granted > 0) this.#ahead.offer()
    this.#speaker.answered()
  }

  #hearPause({ pause }: Answer, said: Message): void {
    if (pause > 0) this.#listener.paused(pause)
    if (this.#pause.hear(this.#runtime.now(), said, pause) === 'lifted') this.#listener.resumed()
  }

  /** Redis is silent. */
  #lose(reason: unknown): void {
    this.#contact.lose(this.#conversation.silentSince)
    this.#demand.queue(false)
    this.#speaker.giveUp()
    this.#listener.lost(reasonOf(reason))
  }

  /** Redis answers again, and must hear what was sent since it was told last. */
  #find(): void {
    this.#demand.askAtOnce()
    this.#news.add()
    this.#listener.found()
  }
}
