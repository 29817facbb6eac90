/** What the calls of one API, or of all, have done. */
export interface CallCounts {
  /** Calls that asked to be sent. A call that is sent again counts once. */
  readonly calls: number
  /** Attempts and redirects that were sent. */
  readonly sends: number
  /** Calls that are queued now. */
  readonly queued: number
}

/** Returns the sum. */
export function sumOf(counts: readonly CallCounts[]): CallCounts {
  const sum = { calls: 0, sends: 0, queued: 0 }
  for (const { calls, sends, queued } of counts) {
    sum.calls += calls
    sum.sends += sends
    sum.queued += queued
  }
  return sum
}
