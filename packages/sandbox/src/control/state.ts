import type { Api } from '../api/api.ts'
import type { ApiCounts } from '../api/call-counts.ts'
import type { StrictRatePolicy, WindowUsage } from '../api/strict-rate.ts'
import type { Fault, FaultSlot } from '../faults/fault.ts'
import type { Latency } from '../faults/latency.ts'
import type { ClientAuthentication } from '../issuer/issuer-settings.ts'
import type { Issuer, IssuerCounts } from '../issuer/issuer.ts'
import { perRealm, type Realm } from '../realm.ts'

/** A live token. */
export interface LiveToken {
  /** Short name, for example `weblink-3`; never the token. */
  token: string
  /** Time until the token expires, in milliseconds. */
  timeLeft: number
  /** The lifetime that its client was told, in milliseconds. */
  lifetime: number
}

/** A fault that is set. */
export interface FaultState {
  /** What a request meets: a response with this status, or a cut connection. */
  does: 'respond' | 'cut' | 'cut-body'
  status: number | null
  /** Time until the fault ends, in milliseconds; `null` if it has no end. */
  timeLeft: number | null
  /** How many more requests meet the fault; `null` without a limit. */
  timesLeft: number | null
  /** How many of a hundred requests meet the fault. */
  percent: number
}

export interface IssuerState {
  tokenEndpoint: string
  /** How the client must authenticate. */
  clientAuthentication: ClientAuthentication
  /** The scopes that a token request must name, separated by spaces; empty for none. */
  scope: string
  /** Lifetime of the tokens issued from now on, in milliseconds. */
  tokenLifetime: number
  /** Live tokens, newest first; at most 20. */
  liveTokens: LiveToken[]
  /** How many tokens are live. */
  live: number
  /** How many client secrets are accepted now: more than 1 while secrets overlap. */
  acceptedSecrets: number
  /** Which of its client secrets the client has sent last; `null` before it has sent one that was accepted. */
  secretInUse: 'newest' | 'older' | null
  latency: Latency
  /** How many milliseconds its clock is ahead of this machine's; negative if it is behind. */
  clockOffset: number
  fault: FaultState | null
  counts: IssuerCounts
}

export interface ApiState {
  baseUrl: string
  ratePolicy: StrictRatePolicy | null
  /** How full the windows are, one for each limit of the policy. */
  windows: WindowUsage[]
  latency: Latency
  /** How many milliseconds its clock is ahead of this machine's; negative if it is behind. */
  clockOffset: number
  fault: FaultState | null
  counts: ApiCounts
}

/** The sandbox as it is at this moment. */
export interface SandboxState {
  /** When the snapshot was made, in ISO 8601. */
  at: string
  issuers: Record<Realm, IssuerState>
  apis: Record<Realm, ApiState>
  /** How many steps of the last scenario are done; `null` without a scenario. */
  scenario: { done: number; of: number } | null
  journal: {
    /** How many entries were added since the journal was cleared. */
    total: number
    /** How many entries were dropped because the journal was full. */
    dropped: number
  }
}

const shownTokens = 20

export function issuerStates(issuers: Record<Realm, Issuer>, now: () => number): Record<Realm, IssuerState> {
  return perRealm((realm) => {
    const issuer = issuers[realm]
    const { tokenEndpoint, settings, ledger, registration, slowness, clock, faults } = issuer
    const live = ledger.live()
    return {
      tokenEndpoint,
      clientAuthentication: settings.clientAuthentication,
      scope: settings.scope,
      tokenLifetime: ledger.lifetime,
      liveTokens: live.slice(0, shownTokens).map(({ name, expiresAt, lifetime }) => ({
        token: name,
        timeLeft: expiresAt - now(),
        lifetime,
      })),
      live: live.length,
      acceptedSecrets: registration.accepted(),
      secretInUse: registration.inUse(),
      latency: slowness,
      clockOffset: clock.offset,
      fault: faultState(faults),
      counts: issuer.counts(),
    }
  })
}

export function apiStates(apis: Record<Realm, Api>): Record<Realm, ApiState> {
  return perRealm((realm) => {
    const api = apis[realm]
    const { baseUrl, ratePolicy, slowness, clock, faults } = api
    return {
      baseUrl,
      ratePolicy: ratePolicy ?? null,
      windows: api.windows(),
      latency: slowness,
      clockOffset: clock.offset,
      fault: faultState(faults),
      counts: api.counts(),
    }
  })
}

function faultState(faults: FaultSlot<Fault>): FaultState | null {
  const current = faults.current()
  if (current === undefined) return null
  const { fault, ...span } = current
  return typeof fault === 'string'
    ? { does: fault, status: null, ...span }
    : { does: 'respond', status: fault.status, ...span }
}
