/** The clock that a server shows to its clients. It may be wrong, as clocks are. */
export interface ServerClock {
  /** By how many milliseconds it is ahead of this machine's clock; negative if it is behind. */
  offset: number
  /** The time that it shows, in milliseconds since 1970. */
  epoch(): number
  /** The time as an HTTP date (RFC 9110 §5.6.7). */
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
