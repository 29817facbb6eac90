import { AccessToken } from '../token/access-token.ts'
import type { Pass, Report } from './api.ts'
import type { Turn } from '../queue/api-queue.ts'

const inspect = Symbol.for('nodejs.util.inspect.custom')

/** How often a call went again, and why. */
export interface Repeats {
  rejected: number
  limited: number
}

/** Whom the turns belong to. */
export interface TurnKeeper {
  /** What an answer means for the token, for the API, and for the call. */
  judge(turn: Turn, report: Report, replayable: boolean, repeats: Repeats): 'final' | 'again'
  /** The attempt ended, or was never made. */
  left(turn: Turn, sent: boolean): void
}

/** The right to make one attempt of a call. */
export class AttemptPass implements Pass, Repeats {
  readonly #keeper: TurnKeeper
  readonly #turn: Turn
  readonly #replayable: boolean
  rejected: number
  limited: number
  #sent = false
  #released = false

  constructor(keeper: TurnKeeper, turn: Turn, replayable: boolean, before: Repeats | undefined) {
    this.#keeper = keeper
    this.#turn = turn
    this.#replayable = replayable
    this.rejected = before?.rejected ?? 0
    this.limited = before?.limited ?? 0
  }

  get authorization(): string {
    // whoever takes it sends it
    this.#sent = true
    return AccessToken.authorization(this.#turn.token)
  }

  report(report: Report): 'final' | 'again' {
    return this.#keeper.judge(this.#turn, report, this.#replayable, this)
  }

  release(): void {
    if (this.#released) return
    this.#released = true
    this.#keeper.left(this.#turn, this.#sent)
  }
}

// the field is for the wire, and for no log
Object.defineProperty(AttemptPass.prototype, inspect, { value: (): string => '[pass]' })
