import type { WriteStream } from 'node:tty'

const width = 30
const clearLine = '\r\u001B[2K'

/** A bar in the last line of a terminal; elsewhere, such as in a log, a line each minute. The end is told to both. */
export interface Bar {
  step(): void
  tell(line: string): void
  end(): void
}

export function createBar(stream: WriteStream, total: number): Bar {
  const start = performance.now()
  let done = 0

  const draw = (): void => {
    if (!stream.isTTY) return void stream.write(`${done} of ${total} pages\n`)
    const full = Math.floor((done / total) * width)
    const left = done === 0 ? Number.NaN : ((performance.now() - start) / done) * (total - done)
    const line = `${'█'.repeat(full)}${'░'.repeat(width - full)} ${done}/${total}  ${inWords(left)} left`
    stream.write(clearLine + line.slice(0, stream.columns - 1))
  }
  const timer = setInterval(draw, stream.isTTY ? 200 : 60_000)

  return {
    step() {
      done += 1
    },
    tell(line) {
      stream.write(`${stream.isTTY ? clearLine : ''}${line}\n`)
    },
    end() {
      clearInterval(timer)
      this.tell(`${done} of ${total} pages in ${inWords(performance.now() - start)}`)
    },
  }
}

function inWords(ms: number): string {
  if (Number.isNaN(ms)) return '?'
  const seconds = Math.ceil(ms / 1_000)
  return seconds < 100 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`
}
