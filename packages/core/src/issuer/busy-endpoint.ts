import { isTokenlaneError, type TokenlaneError } from '../errors.ts'
import { failure } from './issuer-failure.ts'
import type { TokenEndpoint } from './protocol.ts'
import type { Wait } from './token-source.ts'

/** The mean distance of requests to a busy endpoint, in milliseconds: the least and the most. */
const shortest = 250
const longest = 1_000
/** For how long an endpoint counts as busy after its last busy response, in milliseconds. */
const memory = 60_000
/** A connection that the other side closed: too many came at once. */
const flooded = new Set<unknown>(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/** A token endpoint that was busy for one of the managers of this process; times are on the monotonic clock. */
interface BusyEndpoint {
  distance: number
  nextAt: number
  raisedAt: number
  raisedBy: TokenEndpoint
}

/** By URL, for each `fetch`: another one may ask from another address. */
const known = new WeakMap<object, Map<string, BusyEndpoint>>()
const ofRuntime = {}

function busyBy({ fetch = ofRuntime }: { readonly fetch: object | undefined }): Map<string, BusyEndpoint> {
  const byUrl = known.get(fetch) ?? new Map<string, BusyEndpoint>()
  known.set(fetch, byUrl)
  for (const [url, { raisedAt }] of byUrl) if (performance.now() - raisedAt > memory) byUrl.delete(url)
  return byUrl
}

/**
 * Makes one token request. Once the endpoint was busy, all managers of this process ask it one after another: further apart
 * after each refusal, closer again after each token. A refused manager also waits as its own backoff says.
 *
 * @throws TokenlaneError `TOKEN_REQUEST_FAILED` if its turn comes after the calls that wait have given up.
 */
export async function askInTurn<T>(
  endpoint: TokenEndpoint,
  wait: Wait,
  request: () => Promise<T>,
): Promise<T> {
  const { href } = endpoint.url
  for (;;) {
    const busy = busyBy(endpoint).get(href)
    const left = busy === undefined || busy.raisedBy === endpoint ? 0 : busy.nextAt - performance.now()
    if (left <= 0) {
      if (busy !== undefined) busy.nextAt = performance.now() + drawn(busy)
      break
    }
    if (left >= wait.timeLeft) {
      const reason = 'is busy or down: others of this process are first'
      throw failure(endpoint, 'TOKEN_REQUEST_FAILED', reason, { retryAfter: Math.ceil(left) })
    }
    await wait.pause(left)
  }
  const sentAt = performance.now()
  try {
    const answer = await request()
    const busy = busyBy(endpoint).get(href)
    if (busy !== undefined) busy.distance *= 0.8
    return answer
  } catch (error) {
    if (isTokenlaneError(error) && isTooMuch(error)) refused(endpoint, sentAt)
    throw error
  }
}

function refused(endpoint: TokenEndpoint, sentAt: number): void {
  const endpoints = busyBy(endpoint)
  const { distance = 0, raisedAt = -Infinity } = endpoints.get(endpoint.url.href) ?? {}
  // requests that were under way together say the same
  if (sentAt < raisedAt) return
  const now = performance.now()
  const raised = {
    distance: Math.min(longest, Math.max(shortest, 1.5 * distance)),
    raisedAt: now,
    raisedBy: endpoint,
  }
  endpoints.set(endpoint.url.href, { ...raised, nextAt: now + drawn(raised) })
}

function drawn({ distance }: Pick<BusyEndpoint, 'distance'>): number {
  return distance * (0.75 + Math.random() / 2)
}

/** Whether the issuer got too many requests, or may have. */
export function isTooMuch({ busy, status, transportCode }: TokenlaneError): boolean {
  return busy === true || status === 503 || flooded.has(transportCode)
}
