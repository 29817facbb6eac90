const httpDate = /^[A-Z][a-z]{2,8},? \d{2}[ -][A-Z][a-z]{2}[ -]\d{2,4} \d{2}:\d{2}:\d{2} GMT$/
const asctimeDate = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/

/**
 * Reads a `Retry-After` field (RFC 9110 §10.2.3): seconds, or one of the three HTTP dates.
 *
 * @param now Wall clock in epoch milliseconds, which a date is compared with.
 * @returns Milliseconds from `now`, 0 for a date that is past, `undefined` for what is no such field.
 */
export function parseRetryAfter(value: string | null | undefined, now: number): number | undefined {
  const text = value?.trim()
  if (!text) return undefined
  if (/^\d+$/.test(text)) return Number(text) * 1_000
  if (!httpDate.test(text) && !asctimeDate.test(text)) return undefined
  const date = Date.parse(asctimeDate.test(text) ? `${text} GMT` : text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
