const fixedOrObsolete = /^[A-Z][a-z]{2,8},? \d{2}[ -][A-Z][a-z]{2}[ -]\d{2,4} \d{2}:\d{2}:\d{2} GMT$/
const asctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/

/**
 * Returns the epoch milliseconds of one of the three HTTP dates (RFC 9110 §5.6.7), `undefined` for any other text.
 */
export function parseHttpDate(value: string | null | undefined): number | undefined {
  const text = value?.trim()
  if (!text) return undefined
  const isAsctime = asctime.test(text)
  if (!isAsctime && !fixedOrObsolete.test(text)) return undefined
  const date = Date.parse(isAsctime ? `${text} GMT` : text)
  return Number.isNaN(date) ? undefined : date
}
