/** Something that happens once. */
export interface Happening {
  /** When, in milliseconds from the start. */
  at: number
  act: () => void
}

/** How far a scenario has come. */
interface Progress {
  done: number
  of: number
}

/** Lets things happen at their times. One scenario at a time: a new one ends the one before. */
export interface Player {
  play(happenings: readonly Happening[]): void
  stop(): void
  /** `undefined` if none was played. */
  progress(): Progress | undefined
}

export function createPlayer(): Player {
  let timers: NodeJS.Timeout[] = []
  let progress: Progress | undefined

  const stop = (): void => {
    for (const timer of timers) clearTimeout(timer)
    timers = []
    progress = undefined
  }
  return {
    stop,
    play(happenings) {
      stop()
      const own = { done: 0, of: happenings.length }
      progress = own
      timers = happenings.map(({ at, act }) =>
        setTimeout(() => {
          own.done += 1
          act()
        }, at).unref(),
      )
    },
    progress: () => (progress === undefined ? undefined : { ...progress }),
  }
}
