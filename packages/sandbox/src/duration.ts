const units: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/** Describes a duration in messages. */
export const durationForm = 'a time such as 500ms, 20s, 5m or 1h'

/** Returns the milliseconds of a text such as `20s`; `undefined` if it has another form. */
export function parseDuration(text: string): number | undefined {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? []
  return number === undefined || unit === undefined ? undefined : Number(number) * (units[unit] ?? 1)
}

/** Parameters that are times: in JSON, their values may be texts such as `"20s"`. */
export const times: ReadonlySet<string> = new Set([
  'for',
  'lifetime',
  'max',
  'median',
  'min',
  'ms',
  'offset',
  'p99',
  'window',
])

/** Returns a copy of JSON in which texts such as `"20s"`, or `"-20s"`, are milliseconds wherever a time is meant. */
export function withMilliseconds(given: unknown, name = ''): unknown {
  if (Array.isArray(given)) return given.map((item) => withMilliseconds(item))
  if (typeof given === 'string' && times.has(name)) {
    const ms = parseDuration(given.replace(/^-/, ''))
    return ms === undefined ? given : ms * (given.startsWith('-') ? -1 : 1)
  }
  // what an issuer responds with is its own affair
  if (typeof given !== 'object' || given === null || name === 'body') return given
  return Object.fromEntries(Object.entries(given).map(([key, value]) => [key, withMilliseconds(value, key)]))
}
