const units: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

export const durationForm = 'a time such as 500ms, 20s, 5m or 1h'

/** Returns the milliseconds of a text such as `20s` or `-20s`; `undefined` if it has another form. */
export function parseDuration(text: string): number | undefined {
  const [, number, unit] = /^(-?\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? []
  return number === undefined || unit === undefined ? undefined : Number(number) * (units[unit] ?? 1)
}
