export type CalendarWindow = 'second' | 'minute' | 'hour' | 'day' | 'month'

/** How long each lasts, in milliseconds; a month at most. */
export const calendarWindows: Readonly<Record<CalendarWindow, number>> = {
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  month: 31 * 86_400_000,
}

/** Returns the beginning and end of the window around an instant, in epoch milliseconds. */
export function windowAt(
  instant: number,
  window: CalendarWindow,
  timeZone: string,
): { readonly start: number; readonly end: number } {
  const local = new Date(instant + offsetAt(instant, timeZone))
  if (window === 'month') {
    const [year, month] = [local.getUTCFullYear(), local.getUTCMonth()]
    return {
      start: instantOf(Date.UTC(year, month), timeZone),
      end: instantOf(Date.UTC(year, month + 1), timeZone),
    }
  }
  const length = calendarWindows[window]
  const start = Math.floor(local.getTime() / length) * length
  // where the local clock is set forward or back, its seconds, minutes and hours stay as long as those of any clock
  if (length <= calendarWindows.hour) {
    const since = local.getTime() - start
    return { start: instant - since, end: instant - since + length }
  }
  return { start: instantOf(start, timeZone), end: instantOf(start + length, timeZone) }
}

/** Returns the instant at which the clock of a time zone shows a local time, or jumps over it. */
function instantOf(local: number, timeZone: string): number {
  const guess = local - offsetAt(local, timeZone)
  const instant = local - offsetAt(guess, timeZone)
  return instant + offsetAt(instant, timeZone) === local ? instant : Math.max(instant, guess)
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** Returns by how many milliseconds the clock of a time zone is ahead of UTC. */
function offsetAt(instant: number, timeZone: string): number {
  if (timeZone === 'UTC') return 0
  const parts = formatOf(timeZone).formatToParts(instant)
  const [year = 0, month = 1, day, hour, minute, second] = (
    ['year', 'month', 'day', 'hour', 'minute', 'second'] as const
  ).map((type) => Number(parts.find((part) => part.type === type)?.value))
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(instant / 1_000) * 1_000
}

/** @throws RangeError for what is not a time zone. */
export function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone)
  if (known !== undefined) return known
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  formats.set(timeZone, format)
  return format
}
