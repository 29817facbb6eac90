/** The clock that a server shows to its clients. Control can set it wrong. */
export class ServerClock {
  /** By how many milliseconds the clock is ahead of this machine's clock; negative if it is behind. */
  offset = 0

  epoch(): number {
    return Date.now() + this.offset
  }

  /** Returns the time as an HTTP date (RFC 9110 §5.6.7). */
  date(): string {
    return new Date(this.epoch()).toUTCString()
  }
}
