/** How the pauses after failures in a row grow. */
interface Growth {
  /** The pause after the first failure, in milliseconds; after each further one it is twice as long. */
  readonly first: number
  /** The longest pause, in milliseconds. */
  readonly most: number
  /**
   * What is drawn anew each time, so that processes that failed together do not come back together.
   *
   * `whole` spreads them best, from 0 on. `half` draws between a half and the whole, where a pause of nearly nothing
   * would cost a request too many. `none` where a server is to be left alone for at least that long.
   */
  readonly jitter: 'none' | 'half' | 'whole'
}

/** Returns the function that says how long to wait after this many failures in a row (1 or more), in milliseconds. */
export function backoff({ first, most, jitter }: Growth): (failures: number) => number {
  return (failures) => {
    const pause = Math.min(most, first * 2 ** Math.min(failures - 1, 30))
    if (jitter === 'none') return pause
    return jitter === 'half' ? betweenHalfAndWhole(pause) : pause * Math.random()
  }
}

/** Returns a random part of `whole`, a half or more. */
export function betweenHalfAndWhole(whole: number): number {
  return whole * (0.5 + Math.random() / 2)
}
