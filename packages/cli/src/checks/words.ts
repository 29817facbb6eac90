// How findings name days, durations and sentences.

/** In milliseconds. */
export const day = 86_400_000

export function dateOf(date: Date): string {
  return Number.isNaN(date.getTime()) ? 'an unknown day' : date.toISOString().slice(0, 10)
}

/** Returns whole days, such as `1 day`. */
export function days(count: number): string {
  const whole = Math.floor(count)
  return `${whole} day${whole === 1 ? '' : 's'}`
}

/** Returns a duration in a readable unit, such as `90 s` or `5 minutes`. */
export function inWords(ms: number): string {
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} minutes`
  return ms < 2 * day ? `${Math.round(ms / 3_600_000)} hours` : `${Math.round(ms / day)} days`
}

/** Returns a text with a capital at its beginning, and a period at its end where it has no other sign. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?]$/.test(text) ? '' : '.'}`
}
