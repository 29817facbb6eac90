import type { Headers } from './handler.ts'

/** Whether the headers hold an `Authorization` of the caller's own. */
export function hasAuthorization(headers: Headers): boolean {
  if (headers === null || headers === undefined) return false
  const names = isRecord(headers)
    ? Object.keys(headers)
    : listed(headers).filter((_, index) => index % 2 === 0)
  return names.some((name) => String(name).toLowerCase() === 'authorization')
}

/**
 * Returns a copy, since the caller may change its headers while the call waits. What is not an object or a list is
 * undici's to refuse.
 */
export function copyOf(headers: Headers): Headers {
  if (typeof headers !== 'object' || headers === null) return headers
  return isRecord(headers) ? { ...headers } : listed(headers)
}

/** Returns a copy with the token, so that only the request that is sent has it. */
export function withToken(headers: Headers, authorization: string): Headers {
  return Array.isArray(headers)
    ? [...(headers as unknown[]), 'authorization', authorization]
    : { ...(headers as object), authorization }
}

function isRecord(headers: NonNullable<Headers>): headers is Readonly<Record<string, unknown>> {
  return typeof (headers as Partial<Iterable<unknown>>)[Symbol.iterator] !== 'function'
}

/** Returns names and values in turn. */
function listed(headers: Exclude<NonNullable<Headers>, Readonly<Record<string, unknown>>>): unknown[] {
  const items = [...headers]
  return Array.isArray(items[0]) ? items.flatMap((pair) => [...(pair as Iterable<unknown>)]) : items
}
