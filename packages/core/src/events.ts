import type { TokenlaneErrorCode } from './errors.ts'

/** Why a token was requested; `ahead`: in the background, before the token in use expired. */
export type RenewalReason = 'startup' | 'ahead' | 'expired' | 'rejected'

/**
 * Why a call was sent again: `rejected`: the API refused the token in use, which was renewed; `replaced`: it refused a
 * token that had since been replaced; `retried`: it refused the token in use, and the call was sent again with it, or with the token before it;
 * `limited`: it refused the call because its rate limit was exceeded.
 */
export type ResendReason = 'rejected' | 'replaced' | 'retried' | 'limited'

/** What a call waited for, in milliseconds. */
export interface CallWaits {
  /** For a live token. */
  readonly token: number
  /** For a slot: `concurrency` calls were under way. */
  readonly slot: number
  /** For a permit: the limits did not allow another call yet. */
  readonly limit: number
  /** For the end of a pause that the API asked for. */
  readonly pause: number
}

/** At most `quota` calls in any `window`: milliseconds, or a window of the calendar. As in a rate policy. */
export interface NamedLimit {
  readonly quota: number
  readonly window: number | 'second' | 'minute' | 'hour' | 'day' | 'month'
  readonly name?: string | undefined
  readonly match?: string | readonly string[] | undefined
}

/**
 * How the shared store failed: the `code` of its error if that is in capitals (`READONLY`), otherwise `error`; `timeout`
 * if it did not respond in time (one second at most); `unreadable` if none of these processes wrote what it returned.
 */
export type StoreFailure = 'error' | 'timeout' | 'unreadable' | Uppercase<string>

/**
 * What happened in a manager, for operators; `type` is the kind of event. Times are in milliseconds. No event carries a
 * token, a secret or a full URL: `api` is the API's `baseUrl`.
 */
export type TokenlaneEvent = {
  [Type in keyof Events]: Readonly<{ type: Type } & Events[Type]>
}[keyof Events] & {
  /** The tenant that this happened to, in a manager from `createTenants`. */
  readonly tenant?: string
}

/** What each kind of event carries. */
interface Events {
  /** A token request succeeded; `joiners` calls waited for it. `outage` is there if it ends one: how long, how many tries. */
  'token.renewed': {
    issuer: string
    expiresAt: Date
    duration: number
    reason: RenewalReason
    joiners: number
    outage?: { readonly duration: number; readonly failedTries: number }
  }
  /** A token that another process had obtained was taken from the shared store. */
  'token.received': { issuer: string; expiresAt: Date }
  /**
   * The issuer's response names fewer scopes than were asked for (RFC 6749 §3.3): calls that need those in `missing` will
   * be refused. Once, and again when it changes.
   */
  'scope.narrowed': { issuer: string; missing: readonly string[] }
  /**
   * The issuer's token response is not as RFC 6749 §5.1 has it, and its token is used all the same. `oddities` are in plain
   * words, such as "no `token_type`". Once, and again when it changes.
   */
  'token.unusual': { issuer: string; oddities: readonly string[] }
  /**
   * A renewal failed. The next try comes after `retryIn` at the earliest, unless the credentials function returns
   * another secret first, or an API refuses the token that calls still use.
   */
  'renewal.failed': {
    issuer: string
    code: TokenlaneErrorCode
    /** The token endpoint, without a query. */
    endpoint: string
    /** HTTP status of the issuer's response. */
    status?: number
    /** The issuer's `error` (RFC 6749 §5.2), such as `invalid_client`. */
    oauthError?: string
    /** The transport's error code, such as `ECONNREFUSED`. */
    transportCode?: string
    /** Why it failed, in the words of the error message. Names the endpoint, and the proxy if that failed. */
    reason: string
    /** How many tries before this one failed for the same reason, with no success between them. */
    repeats: number
    retryIn: number
    /** Whether calls use the old token until it expires. */
    tokenStillValid: boolean
    /** Whether calls without a live token fail at once until the next try, or else wait up to the issuer's `maxWait`. */
    failFast: boolean
    /** How long calls wait for a token, while they do: the issuer's `maxWait`. */
    maxWait?: number
  }
  /** The shared store fails: each process requests its own tokens until the store is back. Once per failure. */
  'store.failed': { reason: StoreFailure }
  /** The shared store works again. */
  'store.recovered': object
  /** An API refused the token in use with a 401; the token is dropped. Once per token, whatever the number of calls. */
  'token.rejected': { issuer: string; api: string }
  /**
   * An API refused the new token after a renewal that its own 401 had forced: new tokens do not help. Once per forced
   * renewal; these become rarer, down to one a minute. `option` is the option that names the issuer: `apis[1].issuer`,
   * or the URL of `tokensFor`. `clockBehind` is set if the API says, or its `Date` shows, that the token is not valid yet:
   * then the API's clock is behind the issuer's, and no renewal is forced.
   */
  'rejection.repeated': { issuer: string; api: string; option: string; clockBehind?: true }
  /** After `rejection.repeated`, the API accepted a token again. */
  'rejection.ended': { issuer: string; api: string }
  /**
   * Tokens that an API had accepted are refused within a second of being requested, again and again: several processes
   * invalidate each other's tokens, because the issuer keeps only one live token per client. Share the tokens through a
   * `store`. Once, when it begins: at the eighth such token within a minute.
   */
  'token.contested': { issuer: string; api: string }
  /**
   * A call must wait. `queued` calls are now waiting, this one included; the last of them is sent after `emptyIn` at the
   * earliest.
   */
  'call.queued': { api: string; queued: number; emptyIn: number }
  /**
   * A call is sent after it has `waited`. `queued` calls are still waiting; the last of them is sent after `emptyIn` at
   * the earliest.
   */
  'call.sent': { api: string; waited: number; queued: number; emptyIn: number }
  /**
   * A call to an API ended, with the `status` that its caller got or with an error that has this `code`. `path` has no query,
   * and is cut to 200 characters. `resends` says
   * why it was sent again, `remainingLifetime` how long its token was still valid when it was last sent, and `waited`
   * how much of its `duration` it waited, and for what. Each redirect followed within the API counts as a call.
   */
  'call.finished': {
    api: string
    issuer: string
    client?: string
    method?: string
    path?: string
    status?: number
    code?: string
    sends: number
    remainingLifetime?: number
    resends: readonly ResendReason[]
    waited: CallWaits
    duration: number
  }
  /**
   * A URL is on the same origin as some APIs but belongs to none of them, so its calls get no token. `path` is cut to 200
   * characters. Once per path, for at most 100 paths. With `by`, it is on another origin that differs from theirs only in
   * the scheme, the port, or the name of this machine; once per origin. `apis` are their base URLs.
   */
  'route.missed': {
    origin: string
    path: string
    by?: 'scheme' | 'port' | 'host'
    apis: readonly string[]
  }
  /**
   * An API is paused: no call is sent to it for `for` milliseconds. A response with this `status` refused a call that
   * exceeded the API's rate limit (`refused`), or reported that no calls remain (`used-up`). Once per pause, and again if
   * the pause is extended or the pace drops.
   */
  'api.paused': {
    api: string
    for: number
    status: number
    reason: 'refused' | 'used-up'
    /** Roughly what the API allows, if it refuses calls that the rate policy (repeated in `configured`) allows. */
    allows?: readonly NamedLimit[]
    configured?: readonly NamedLimit[]
  }
  /**
   * Calls wait and get only this `share` of the API's quota (below 0.7), because its responses are slow and a strict
   * policy waits for them. Setting `option` in the rate policy gives more. Once per policy.
   */
  'api.slowed': { api: string; share: number; option: string }
  /**
   * `queued` calls have waited for a slot for 10 s, and none of the `running` ones has ended: they get no response, or
   * their bodies are not read to the end. Once, until one ends.
   */
  'slots.blocked': { api: string; running: number; queued: number }
  /**
   * A call that brings an `Authorization` of its own gets no token, and an API answered it with a 401. An old default of
   * the client does this. Once per API.
   */
  'authorization.kept': { api: string }
  /**
   * An API answered with a 401 to a call without an `Authorization`: nothing is attached to the client that made it, such as
   * one of `axios.create()` beside an attached axios. Seen on Node, for `node:http` and undici. Once per API, and without a
   * tenant.
   */
  'client.unattached': { api: string }
  /**
   * `allowInsecureHosts` lets secrets and tokens of this issuer travel unencrypted to these `hosts`, which is right in a
   * test only. When a manager is created.
   */
  'transport.insecure': { issuer: string; hosts: readonly string[] }
  /** An API without a rate policy refused a call with a 429. Once per API. */
  'policy.missing': { api: string }
  /** The API's rate limit headers report limits (`seen`) that differ from the configured ones. Once per difference. */
  'policy.differs': { api: string; configured: readonly NamedLimit[]; seen: readonly NamedLimit[] }
  /** The rate budget that a fleet shares cannot be reached: this process uses only its own share. Once, when it begins. */
  'limiter.failed': { api: string; reason: string }
  /** The rate budget is shared again. */
  'limiter.recovered': { api: string }
  /** The client secret must be rotated: `daysLeft` of its `secretLifetime` remain. Once per threshold. */
  'secret.expiring': { issuer: string; clientId: string; daysLeft: number; threshold: number }
  /** The issuer accepted different credentials than last time. */
  'credentials.rotated': { issuer: string; clientId: string }
}

/** Receives events, synchronously and in order. Errors it throws are ignored. */
export type Observer = (event: TokenlaneEvent) => void

/**
 * Gives an event to every observer. `isObserved` says whether there are any: make an event that takes work, or that
 * comes with every call, only then. `manager` is the manager in which they happen.
 */
export type Emit = Observer & { readonly isObserved: boolean; readonly manager: object }

export type Defined<T> = { [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name] } & {
  [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>
}

/** Leaves out what is undefined: events, statuses and errors are printed. */
export function defined<T extends object>(members: T): Defined<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Defined<T>
}
