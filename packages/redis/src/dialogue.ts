import type { BudgetLevel } from './budget-level.ts'
import { Contact } from './contact.ts'
import { Conversation } from './conversation.ts'
import type { Demand } from './demand.ts'
import { reasonOf } from './failure-reason.ts'
import { longestUntold, shortestSpan } from './fleet-policy.ts'
import type { FleetPause } from './fleet-pause.ts'
import { type Ledger, lease } from './ledger.ts'
import type { Membership } from './membership.ts'
import { News } from './news.ts'
import type { Answer, Exchange, Message } from './protocol.ts'
import type { Runtime } from './runtime.ts'
import { Speaker } from './speaker.ts'
import type { UnitsAhead } from './units-ahead.ts'
import type { UnitsInUse } from './units-in-use.ts'

/** How much earlier than promised a response may come without a message of its own, in milliseconds. */
const longestUseless = 1_000

/** What a process hears of Redis. */
export interface DialogueListener {
  /** Redis cannot be reached. */
  lost(reason: string): void
  /** Redis answers again. */
  found(): void
  paused(ms: number): void
  resumed(): void
}

/** What messages speak of, and what answers change. */
export interface Subjects {
  readonly demand: Demand
  readonly ledger: Ledger
  readonly ahead: UnitsAhead
  readonly inUse: UnitsInUse
  readonly pause: FleetPause
  readonly membership: Membership
  readonly level: BudgetLevel
}

/** What this process and Redis say to each other: each message states everything, each answer is acted upon. */
export class Dialogue {
  readonly #subjects: Subjects
  readonly #runtime: Runtime
  readonly #listener: DialogueListener
  readonly #contact = new Contact()
  readonly #news = new News()
  readonly #conversation: Conversation<Message, Answer | 'stale'>
  readonly #speaker: Speaker
  /** The last message. */
  #said: Message | undefined

  constructor(
    subjects: Subjects,
    exchange: Exchange,
    timeout: number,
    runtime: Runtime,
    listener: DialogueListener,
  ) {
    this.#subjects = subjects
    this.#runtime = runtime
    this.#listener = listener
    this.#conversation = new Conversation(exchange, runtime, timeout, {
      heard: (answer, sentAt) => this.#hear(answer, sentAt),
      silent: (reason) => this.#lose(reason),
      free: () => this.#goOn(),
    })
    this.#speaker = new Speaker(runtime, {
      isFree: () => this.#conversation.isFree,
      isIdle: () => subjects.demand.isNone,
      speakAt: () => this.#speakAt(),
      say: () => this.#say(),
    })
  }

  /** Looks anew when the next message must go. */
  plan(): void {
    this.#speaker.plan()
  }

  /** Tells Redis as soon as a message may go. */
  tell(): void {
    this.#news.add()
    this.plan()
  }

  /** Tells Redis of a response that came `late` milliseconds after it was promised, unless that is as promised. */
  tellResponse(late: number): void {
    const span = shortestSpan(this.#subjects.ledger.policy)
    const isAsPromised = late <= 0 && -late < Math.min(span / 8, longestUseless)
    if (!isAsPromised) this.#news.addResponse(this.#runtime.now())
    this.plan()
  }

  /** Tells Redis what is left to tell, and ends; a Redis that does not answer in time holds nothing up. */
  async close(): Promise<void> {
    const isNews = !this.#news.isNone || this.#subjects.demand.isQueued
    await this.#speaker.close(!this.#contact.isAway && isNews && this.#said !== undefined)
    this.#conversation.close()
  }

  #goOn(): void {
    this.#news.repeat()
    this.plan()
  }

  #speakAt(): number {
    if (this.#contact.isAway) return Number.NEGATIVE_INFINITY
    const { demand, ahead, ledger } = this.#subjects
    return Math.min(this.#news.tellAt(this.#longestUntold), demand.speakAt(ahead.count), ledger.tellAt)
  }

  get #longestUntold(): number {
    return Math.min(longestUntold, shortestSpan(this.#subjects.ledger.policy) / 4)
  }

  /** What other processes promise holds for one that is as near to Redis: 0 says so. */
  get #othersPromise(): number {
    return this.#conversation.roundTrip < shortestSpan(this.#subjects.ledger.policy) / 8 ? 0 : lease
  }

  #say(): void {
    const now = this.#runtime.now()
    const { demand, ledger, ahead, inUse, pause, membership, level } = this.#subjects
    const promise = inUse.answerTimes.promise(now, shortestSpan(ledger.policy)) ?? this.#othersPromise
    this.#said = {
      policy: ledger.policy,
      ...membership.introduce(),
      ...pause.say(now),
      ...this.#contact.say(now),
      units: ledger.state(now),
      wanted: this.#contact.isAway ? 0 : demand.beyond(ahead.count),
      promise,
      lag: promise > 0 && promise < lease ? promise : inUse.answerTimes.mean,
      times: inUse.answerTimes.report(),
      reported: level.say(now),
    }
    this.#news.leave()
    this.#conversation.say(this.#said)
  }

  #hear(answer: Answer | 'stale', sentAt: number): void {
    const said = this.#said
    if (answer === 'stale' || said === undefined) return this.#news.add()
    const now = this.#runtime.now()
    const { demand, ahead, membership, level } = this.#subjects
    this.#news.arrive()
    membership.hear(answer, now)
    level.hear(answer, now)
    demand.hear(answer, now, this.#conversation.roundTrip)
    this.#hearPause(answer, said)
    const contact = this.#contact.hear(said)
    if (contact === 'found') this.#find()
    const granted = ahead.add(answer, sentAt, this.#longestUntold)
    demand.queue(said.wanted > granted)
    if (contact === 'outdated') ahead.drop(Infinity)
    else if (granted > 0) ahead.offer()
    this.#speaker.answered()
  }

  #hearPause({ pause }: Answer, said: Message): void {
    if (pause > 0) this.#listener.paused(pause)
    if (this.#subjects.pause.hear(this.#runtime.now(), said, pause) === 'lifted') this.#listener.resumed()
  }

  /** Redis is silent. */
  #lose(reason: unknown): void {
    this.#contact.lose(this.#conversation.silentSince)
    this.#subjects.demand.queue(false)
    this.#speaker.giveUp()
    this.#listener.lost(reasonOf(reason))
  }

  /** Redis answers again, and must hear what was sent since it was told last. */
  #find(): void {
    this.#subjects.demand.askAtOnce()
    this.#news.add()
    this.#listener.found()
  }
}
