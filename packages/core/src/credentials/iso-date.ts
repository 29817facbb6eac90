const isoDate = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/

/** Reads an ISO 8601 date, with a time or without (then 00:00 UTC); `undefined` for anything else. */
export function parseIsoDate(text: string): Date | undefined {
  const date = isoDate.test(text) ? new Date(text) : undefined
  return date === undefined || Number.isNaN(date.getTime()) ? undefined : date
}
