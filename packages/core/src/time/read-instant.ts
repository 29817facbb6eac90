const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
/** Hours of the zone names besides GMT and UTC (RFC 2822 §4.3; Java's dates in Europe). */
const hoursOf: Readonly<Record<string, number>> = {
  edt: -4,
  est: -5,
  cdt: -5,
  cst: -6,
  mdt: -6,
  mst: -7,
  pdt: -7,
  pst: -8,
  cet: 1,
  cest: 2,
}
const time = String.raw`(?<hour>\d\d?):(?<minute>[0-5]\d)(?::(?<second>[0-5]\d|60)(?<fraction>[.,]\d+)?)?`
const zone = String.raw`(?:\s*(?<zone>z|(?:gmt|utc?)?[+-]\d\d:?\d\d|gmt|utc?|${Object.keys(hoursOf).join('|')})(?:\s*[([].*[)\]]|\s+[a-z]{3,4})?)?`
const weekday = '[a-z]{3,9}'
const month = '(?<month>[a-z]{3})[a-z]{0,6}'
const day = String.raw`(?<day>\d\d?)`
const year = String.raw`(?<year>\d{4})`

/** The forms of an instant. Where it names no zone, it is in UTC. */
const instants = [
  // 2026-11-21T12:00:30.5Z, 2026-11-21 12:00:30 +0100 (ISO 8601, RFC 3339)
  String.raw`${year}[-/](?<month>\d\d)[-/]${day}(?:t|\s+)${time}${zone}`,
  // 20261121T120030Z
  String.raw`${year}(?<month>\d\d)(?<day>\d\d)t(?<hour>\d\d)(?<minute>[0-5]\d)(?<second>[0-5]\d)(?<fraction>\.\d+)?${zone}`,
  // Sat, 21 Nov 2026 12:00:30 GMT; Saturday, 21-Nov-26 12:00:30 GMT (RFC 9110 §5.6.7), also with another zone
  String.raw`(?:${weekday},?\s+)?${day}[-\s]${month}[-\s](?<year>\d{4}|\d\d)\s+${time}${zone}`,
  // Sat Nov 21 12:00:30 2026 (RFC 9110 §5.6.7), with a zone before the year as `date` and Java print it
  String.raw`${weekday},?\s+${month}\s+${day},?\s+${time}${zone}\s+${year}`,
  // Sat Nov 21 2026 12:00:30 GMT+0100 (Central European Standard Time), as JavaScript prints it
  String.raw`${weekday},?\s+${month}\s+${day},?\s+${year}\s+${time}${zone}`,
].map((form) => new RegExp(`^${form}$`, 'i'))

/**
 * Returns the epoch milliseconds of an HTTP date (RFC 9110 §5.6.7), an ISO 8601 instant, or another form in which servers
 * write one; `undefined` for any other text, and for a day that does not exist. Not by `Date.parse`, which takes more and
 * differs between runtimes.
 */
export function readInstant(value: string | null | undefined): number | undefined {
  const text = value?.trim() ?? ''
  for (const form of instants) {
    const parts = form.exec(text)?.groups
    if (parts === undefined) continue
    const { second = '0', fraction = '0' } = parts
    const [hour, minute, years] = [Number(parts['hour']), Number(parts['minute']), Number(parts['year'])]
    const name = (parts['month'] as string).toLowerCase()
    const monthIndex = /\d/.test(name) ? Number(name) - 1 : months.indexOf(name)
    const midnight = new Date(Date.UTC(years < 100 ? 2_000 + years : years, monthIndex, Number(parts['day'])))
    if (midnight.getUTCDate() !== Number(parts['day']) || midnight.getUTCMonth() !== monthIndex || hour > 24)
      return undefined
    const clock = (hour * 60 + minute) * 60_000 + Number(second) * 1_000
    const ms = Math.floor(Number(fraction.replace(/^\D/, '0.')) * 1_000)
    return midnight.getTime() + clock + ms - offsetOf(parts['zone'] ?? '')
  }
  return undefined
}

/** Returns how far a zone is ahead of UTC, in milliseconds. */
function offsetOf(name: string): number {
  const [, sign, hours, minutes] = /([+-])(\d\d):?(\d\d)$/.exec(name) ?? []
  if (sign === undefined) return (hoursOf[name.toLowerCase()] ?? 0) * 3_600_000
  return Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * 60_000
}
