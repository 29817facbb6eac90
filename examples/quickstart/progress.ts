import { once } from 'node:events'
import { styleText } from 'node:util'

/** What a line is about: something was done to the service, something failed, or something went well. */
export type Tone = 'yellow' | 'red' | 'green'

/** Tells how the run goes: happenings as lines of their own, the state in one line that is rewritten. */
export interface Progress {
  /** Something happened, worth a line. */
  tell: (happening: string, tone: Tone) => void
  end: () => void
}

const clearLine = '\r\u001B[2K'

/** Shows `state()` ten times a second in a terminal; elsewhere, such as in a log of CI, a line each second if it is new. */
export function showProgress(stream: NodeJS.WriteStream, state: () => string): Progress {
  const start = performance.now()
  const stamp = (): string => `${((performance.now() - start) / 1_000).toFixed(1).padStart(4)} s`
  // a line that wraps could not be rewritten
  const line = (): string => `${stamp()}  ${state()}`.slice(0, (stream.columns || 80) - 1)
  let logged: string | undefined
  const show = (): void => {
    if (stream.isTTY) return void stream.write(clearLine + line())
    const now = state()
    if (now !== logged) stream.write(`${stamp()}  ${now}\n`)
    logged = now
  }
  const timer = setInterval(show, stream.isTTY ? 100 : 1_000)

  return {
    tell(happening, tone) {
      const text = styleText(tone, happening, { stream })
      stream.write(`${stream.isTTY ? clearLine : ''}${stamp()}  ${text}\n`)
      if (stream.isTTY) show()
    },
    end() {
      clearInterval(timer)
      if (stream.isTTY) stream.write(clearLine)
    },
  }
}

/** Draws how much of one batch is done. */
export function bar(name: string, done: number, total: number): string {
  const width = 9
  const full = Math.floor((done / total) * width)
  const count = `${done}/${total}`.padStart(`${total}/${total}`.length)
  return `${name} ${'█'.repeat(full)}${'░'.repeat(width - full)} ${count}`
}

/** Returns the seconds until the last of several queues is empty, as the manager estimates it. */
export function secondsLeft(emptyAt: readonly (string | undefined)[]): string {
  const ends = emptyAt.map((at) => (at === undefined ? 0 : Date.parse(at) - Date.now()))
  return (Math.max(0, ...ends) / 1_000).toFixed(1)
}

/** Returns whether somebody sits at a terminal and can press a key. */
export function canPressKey(): boolean {
  const { CI = 'false' } = process.env
  return process.stdin.isTTY && process.stdout.isTTY && (CI === '' || CI === 'false')
}

/** Waits for a key on the terminal; Ctrl-C is one, too. */
export async function anyKey(): Promise<void> {
  process.stdin.setRawMode(true)
  await once(process.stdin, 'data')
  process.stdin.setRawMode(false).pause()
}
