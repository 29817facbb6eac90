/** Tells how the run goes: happenings as lines of their own, the state in one line that is rewritten. */
export interface Progress {
  /** Something happened, worth a line. */
  tell: (happening: string) => void
  end: () => void
}

const clearLine = '\r\u001B[2K'

/** Shows `state()` ten times a second in a terminal; elsewhere, such as in a log of CI, a line each second. */
export function showProgress(stream: NodeJS.WriteStream, state: () => string): Progress {
  const start = performance.now()
  const stamp = (): string => `${((performance.now() - start) / 1_000).toFixed(1).padStart(5)} s`
  // a line that wraps could not be rewritten
  const line = (): string => `${stamp()}  ${state()}`.slice(0, (stream.columns || 80) - 1)
  const show = (): boolean => stream.write(stream.isTTY ? clearLine + line() : `${stamp()}  ${state()}\n`)
  const timer = setInterval(show, stream.isTTY ? 100 : 1_000)

  return {
    tell(happening) {
      stream.write(`${stream.isTTY ? clearLine : ''}${stamp()}  ${happening}\n`)
      if (stream.isTTY) show()
    },
    end() {
      clearInterval(timer)
      if (stream.isTTY) stream.write(clearLine)
    },
  }
}

/** One batch as a bar: how much is done, and when its queue will be empty. */
export function bar(name: string, done: number, total: number, emptyAt: string | undefined): string {
  const width = 10
  const full = Math.floor((done / total) * width)
  const left = emptyAt === undefined ? 0 : Math.max(0, Date.parse(emptyAt) - Date.now()) / 1_000
  return `${name} ${'█'.repeat(full)}${'░'.repeat(width - full)} ${done}/${total} ${left.toFixed(1)} s left`
}
