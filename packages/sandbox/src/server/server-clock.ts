/** The clock that a server shows to its clients. Control can set it wrong. */
export interface ServerClock {
  /** By how many milliseconds the clock is ahead of this machine's clock; negative if it is behind. */
  offset: number
  epoch(): number
  /** Returns the time as an HTTP date (RFC 9110 §5.6.7). */
  date(): string
}

export function createServerClock(): ServerClock {
  const clock: ServerClock = {
    offset: 0,
    epoch: () => Date.now() + clock.offset,
    date: () => new Date(clock.epoch()).toUTCString(),
  }
  return clock
}
