/** Something that happens once. */
export interface Happening {
  /** When, in milliseconds from the start. */
  at: number
  act: () => void
}

/** How many steps of a scenario are done. */
interface Progress {
  done: number
  of: number
}

/** Plays one scenario at a time: runs each step at its time. A new scenario ends the one before. */
export interface Player {
  play(happenings: readonly Happening[]): void
  stop(): void
  /** Returns the progress of the scenario; `undefined` without one. */
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
