/** Returns `3.2 s` for 3,200 milliseconds. */
export function inSeconds(ms: number): string {
  const seconds = ms / 1_000
  const digits = seconds < 10 && !Number.isInteger(seconds) ? 1 : 0
  const shown =
    seconds > 0 && seconds < 0.1 ? `${Math.ceil(ms)} ms` : `${count(Number(seconds.toFixed(digits)))} s`
  return shown
}

// made once: making a formatter takes longer than serving a call
const numbers = new Intl.NumberFormat('en-US')

/** Returns `1,000` for 1000. */
export function count(number: number): string {
  return numbers.format(number)
}

/** Returns a value as a shell, and what reads files of variables, takes it; most values need no quotes. */
export const quoted = (value: string): string =>
  /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`
