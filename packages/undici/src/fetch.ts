import type { DispatchOptions } from './handler.ts'

/** Whether a request comes from `fetch`: it sends what the Fetch standard asks for, and sets this option. */
export function isFetch({ headers, maxRedirections }: DispatchOptions): boolean {
  return (
    maxRedirections === 0 && typeof headers === 'object' && headers !== null && 'sec-fetch-mode' in headers
  )
}

/** Returns where `fetch` reads a `Location` to lead: servers send UTF-8, which headers show as Latin-1. */
export function targetsOf(location: string, base: URL): string[] {
  return [location, Buffer.from(location, 'latin1').toString()].flatMap((text) => {
    const target = URL.parse(text, base.href)
    if (target !== null) target.hash = ''
    return target?.href ?? []
  })
}

/**
 * Whether a request is sent because `fetch` follows a redirect. The functions that are running tell: they are named as
 * the steps of the Fetch standard. Where a bundler has renamed them, every request counts as one that follows.
 */
export function fetchIsFollowing(): boolean {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 50
  const stack = String(new Error().stack)
  Error.stackTraceLimit = stackTraceLimit
  return stack.includes('httpRedirectFetch') || !stack.includes('httpNetworkFetch')
}
