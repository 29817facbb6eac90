import { failureCode } from '../failure-code.ts'
import { lookAtServer, type ServerFacts } from './server.ts'

/** How long a server may take, in milliseconds. */
const longest = 5_000

/**
 * Returns whether an issuer can be reached through the `fetch` that the application's token requests use, and whether
 * it can be reached directly. The `fetch` sends a HEAD request for `/` without credentials.
 */
export async function lookThroughFetch(
  origin: string,
  roles: readonly string[],
  fetch: typeof globalThis.fetch,
): Promise<ServerFacts> {
  const [own, direct] = await Promise.all([reach(origin, fetch), lookAtServer(origin, roles, false)])
  const directly = direct.failure ?? direct.certificateFailure
  return { origin, roles, ...own, throughFetch: { ...(directly && { directly }) } }
}

async function reach(
  origin: string,
  fetch: typeof globalThis.fetch,
): Promise<Pick<ServerFacts, 'failure' | 'clockOffset'>> {
  try {
    const { headers, body } = await fetch(new URL('/', origin).href, {
      method: 'HEAD',
      redirect: 'manual',
      signal: AbortSignal.timeout(longest),
    })
    await body?.cancel()
    const date = Date.parse(headers.get('date') ?? '')
    return Number.isNaN(date) ? {} : { clockOffset: Date.now() - date }
  } catch (error) {
    return { failure: failureCode(error) }
  }
}
