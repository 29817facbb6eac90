import { unitSpan, type RateLimit } from '@tokenlane/core/fleet'

/** The longest time for which a unit may block new grants, in milliseconds. No outage stops an API for longer. */
const longestSpan = 60_000
/**
 * By how much longer than `reconnectTime` a process sends nothing, as a part of it: an outage that is just long
 * enough for Redis to wait for the others takes ioredis 7.3 s with the default of 6 s.
 */
const beforeFallback = 0.25
/** By default ioredis waits up to 5.2 s between attempts to connect, and redis up to 2.2 s. */
export const defaultReconnectTime = 6_000
/** For how long Redis must refuse a process before that process takes it to be gone for all, in milliseconds. */
export const shortestOutage = 1_000
/** How long a response may wait for other changes at most, so that one request reports both, in milliseconds. */
const mostUnreported = 250
/** The longest time ahead for which Redis grants units, in milliseconds. */
const longestHorizon = 1_000

/** The longest time within which a process promises a response, in milliseconds. A unit that takes longer is under way. */
export const longestPromise = 1_500

/** One limit as Redis knows it. */
export interface FleetLimit {
  /** Names the limit in Redis. */
  readonly key: string
  readonly quota: number
  /** How long a unit counts after its response, in milliseconds. */
  readonly span: number
}

/** A rate policy as each request carries it; times in milliseconds. */
export interface FleetPolicy {
  readonly limits: readonly FleetLimit[]
  /** Between one unit and the next with `spread`, else 0. */
  readonly interval: number
  /** How far ahead units are granted. */
  readonly horizon: number
  /** For how long a unit may count after it was granted. A Redis that does not know of earlier grants waits that long. */
  readonly grantLifetime: number
  /** How long processes need to reach Redis again after an outage. */
  readonly reconnectTime: number
  /** A unit that is presumed to be answered later than that may be answered at any time. */
  readonly longestPromise: number
}

/** Returns the policy of an API whose processes reach Redis again within `reconnectTime` after an outage. */
export function fleetPolicy(
  limits: readonly RateLimit[],
  spread: boolean,
  reconnectTime: number = defaultReconnectTime,
): FleetPolicy {
  const known = limitsBySpan(limits)
  const spans = known.map(({ span }) => span)
  const horizon = Math.min(longestHorizon, ...spans.map((span) => 0.6 * span))
  return {
    limits: known,
    interval: spread ? Math.max(0, ...limits.map(({ quota, window }) => window / quota)) : 0,
    horizon,
    // what was granted ahead is still used, and may be reported late
    grantLifetime: Math.min(longestSpan, Math.max(0, ...spans)) + horizon + mostUnreported,
    reconnectTime,
    longestPromise,
  }
}

/** Returns one limit for each window: the smallest one. */
function limitsBySpan(limits: readonly RateLimit[]): FleetLimit[] {
  const quotas = new Map<number, number>()
  for (const { quota, window } of limits) {
    const span = unitSpan(window)
    quotas.set(span, Math.min(quota, quotas.get(span) ?? Infinity))
  }
  return Array.from(quotas, ([span, quota]) => ({ key: String(span), quota, span }))
}

export function shortestSpan({ limits }: FleetPolicy): number {
  return Math.min(longestSpan, ...limits.map(({ span }) => span))
}

/** How long a response may wait for other changes, in milliseconds. */
export function longestUnreported(policy: FleetPolicy): number {
  return Math.min(mostUnreported, shortestSpan(policy) / 4)
}

/**
 * For how long a process that cannot reach Redis sends nothing, once Redis has been gone for all for `goneFor`
 * milliseconds: until all that it granted to others is out of the window. Where that is not known (`-Infinity`), long
 * enough for a slow response and for a client that connects again.
 */
export function silenceBeforeFallback(
  { grantLifetime, reconnectTime }: FleetPolicy,
  goneFor: number,
): number {
  if (goneFor >= 0) return Math.max(0, grantLifetime - goneFor)
  return Math.max(grantLifetime, reconnectTime * (1 + beforeFallback))
}
