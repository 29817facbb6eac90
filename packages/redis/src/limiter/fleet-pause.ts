/** The longest pause that Redis keeps, in milliseconds. */
const longestPause = 86_400_000
/** A pause that ends earlier than planned by less than this was not lifted, in milliseconds. */
const moment = 50

/** What a process reports of a pause: for how long no process may send, and whether the pause of all processes is lifted. */
export interface PauseReport {
  readonly pause: number
  readonly resume: boolean
}

/** The pause of an API as one process knows it: its own, until Redis knows it, and that of the fleet. */
export class FleetPause {
  #until = Number.NEGATIVE_INFINITY
  #isLifted = false
  /** Until when the fleet is paused, by the last response of Redis. */
  #fleetUntil = Number.NEGATIVE_INFINITY

  begin(now: number, ms: number): void {
    this.#until = Math.max(this.#until, now + Math.min(ms, longestPause))
    this.#isLifted = false
  }

  lift(): void {
    this.#until = Number.NEGATIVE_INFINITY
    this.#isLifted = true
    this.#fleetUntil = Number.NEGATIVE_INFINITY
  }

  report(now: number): PauseReport {
    return { pause: Math.max(0, this.#until - now), resume: this.#isLifted }
  }

  /** Takes the response to a report; returns `'lifted'` if another process lifted the pause since the last one. */
  update(now: number, reported: PauseReport, fleetPause: number): 'lifted' | undefined {
    if (reported.resume) this.#isLifted = false
    const isEarly = now < this.#fleetUntil - moment
    this.#fleetUntil = fleetPause > 0 ? now + fleetPause : Number.NEGATIVE_INFINITY
    return isEarly && fleetPause === 0 && this.#until <= now ? 'lifted' : undefined
  }
}
