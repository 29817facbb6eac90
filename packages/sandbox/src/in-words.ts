// Times, numbers and objects as people write and read them.

const units: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

export const durationForm = 'a time such as 500ms, 20s, 5m or 1h'

/** Returns the milliseconds of a text such as `20s` or `-20s`; `undefined` if it has another form. */
export function parseDuration(text: string): number | undefined {
  const [, number, unit] = /^(-?\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? []
  return number === undefined || unit === undefined ? undefined : Number(number) * (units[unit] ?? 1)
}

/** Returns `3.2 s` for 3,200 milliseconds. */
export function inSeconds(ms: number): string {
  const seconds = ms / 1_000
  const digits = seconds < 10 && !Number.isInteger(seconds) ? 1 : 0
  return seconds > 0 && seconds < 0.1 ? `${Math.ceil(ms)} ms` : `${count(Number(seconds.toFixed(digits)))} s`
}

// made once, when it is needed: the first one of a process takes about as long as starting Node
let numbers: Intl.NumberFormat | undefined

/** Returns `1,000` for 1000. */
export function count(number: number): string {
  return (numbers ??= new Intl.NumberFormat('en-US')).format(number)
}

/** Returns a value as a shell, and what reads files of variables, takes it; most values need no quotes. */
export const quoted = (value: string): string =>
  /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`

/** `2.5 s`, `3 min`, `1 h`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 90_000) return `${Number((ms / 1_000).toFixed(1))} s`
  if (ms < 5_400_000) return `${Math.round(ms / 60_000)} min`
  return `${Number((ms / 3_600_000).toFixed(1))} h`
}

/** Returns `1 call` or `1,000 calls`. */
export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`
}

/** Returns the object that a text of JSON is; `undefined` if it is none. */
export function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}
