import type { NamedLimit } from '../events.ts'
/** Status and headers of one response, as an adapter reports them. */
export interface Report {
  /** HTTP status code. */
  readonly status: number
  /** The `Retry-After` header. */
  readonly retryAfter?: string | null | undefined
  /** The `WWW-Authenticate` header. It distinguishes a refused token from other reasons for a 401. */
  readonly wwwAuthenticate?: string | null | undefined
  /**
   * Returns the value of any response header by its lower-case name, several values joined by a comma. Called while
   * `report` runs, for what the API says of its rate limit; an adapter that has no headers leaves it out.
   */
  readonly header?: ((name: string) => string | null | undefined) | undefined
}

/** One HTTP exchange, made by an adapter. */
export interface Exchange<T> extends Report {
  /** What the caller gets if this was the last attempt. */
  readonly result: T
  /**
   * Frees what an unwanted response holds: drains a short body, cancels a long one. Called at most once; its failure is
   * ignored.
   */
  discard(): unknown
  /**
   * Follows a redirect, where the adapter does that itself: called in the place of reading `result`, and resolves with
   * what the caller gets. `pass.follow()` waits for the pass of a hop within the API.
   */
  readonly follow?: ((pass: Pass) => Promise<T>) | undefined
}

/** How one call wants to be treated. */
export interface AdmitOptions {
  /** Name of the HTTP client, such as `fetch`. For observers only. */
  readonly client?: string | undefined
  /** HTTP method. An API's list of methods that may be sent again is compared with it. */
  readonly method?: string | undefined
  /** Ends every wait of the call. The client aborts the request itself. */
  readonly signal?: AbortSignal | null | undefined
  /**
   * Calls of a higher priority go first where an API has a rate policy; a whole number.
   *
   * @defaultValue 0
   */
  readonly priority?: number | undefined
  /**
   * Whether the same request can be sent again; `false` for a body that can be read once.
   *
   * @defaultValue true
   */
  readonly replayable?: boolean | undefined
  /**
   * Whether the call may be sent again after a 401, at most twice, or after a passed limit. With `false` that response is
   * final; the token is renewed and the API pauses all the same.
   *
   * @defaultValue what the API's own `resend` says of the method
   */
  readonly resend?: boolean | undefined
}

/** How `send` treats a call. */
export interface SendOptions extends AdmitOptions {
  /** A pass for the first attempt, for a client that waits elsewhere than it sends. `send` releases it. */
  readonly pass?: Pass | undefined
}

/** What comes after an attempt: its response is the caller's, or the call goes again. */
export type Verdict = 'final' | 'again'

/** The right to send one attempt. */
export interface Pass {
  /** The `Authorization` header to send. Goes on the wire and nowhere else. */
  readonly authorization: string
  /**
   * Notes that the request leaves. A pass that is released before gives its unit of the rate policy back at once; after
   * that a unit stays taken for as long as the request may be on its way.
   */
  sent(): void
  /**
   * Judges the response, once per attempt. `again` means that one more attempt is due: see `next`. After a redirect the
   * pass holds no slot any more, and keeps the manager open until it is released.
   */
  report(report: Report): Verdict
  /**
   * Waits for the pass of the next attempt, before all calls that were not sent yet; releases this one.
   *
   * @throws as `admit` does.
   */
  next(): Promise<Pass>
  /**
   * Waits for the pass of a redirect within the API, and releases this one. It goes before all calls that were not sent
   * yet, and is not refused for a full queue or a closing manager.
   *
   * @param call what is asked of the redirected request, as of `admit`.
   * @throws as `admit` does.
   */
  follow(call?: AdmitOptions): Promise<Pass>
  /**
   * Gives back what the call holds. Safe to call again.
   *
   * @param failure what the attempt failed with, for observers.
   */
  release(failure?: unknown): void
}

/** A protected API: what adapters talk to. */
export interface Api {
  /** Origin and path prefix of the API, as the WHATWG URL parser writes it. */
  readonly baseUrl: string
  /** Name of the issuer whose tokens it takes. */
  readonly issuer: string
  /**
   * Sends a call with a live token, and again after a 401 that speaks of the token, at most twice.
   *
   * `attempt` performs one HTTP exchange with the given `Authorization` header; what it throws is passed on.
   *
   * @throws TokenlaneError if there is no token, `QUEUE_FULL`, `QUEUE_TIMEOUT` or `MANAGER_CLOSED`: then nothing was
   * sent, except an attempt that the API had refused; the signal's reason if it aborts while the call waits.
   */
  send<T>(attempt: (authorization: string) => Promise<Exchange<T>>, call?: SendOptions): Promise<T>
  /**
   * Returns the right to send one attempt, for clients that make the attempts themselves: at once where nothing has to be
   * waited for, else as a promise. Every failure is a rejection.
   *
   * The adapter releases every pass that it takes, whatever happens.
   *
   * @throws TokenlaneError if there is no token, `QUEUE_FULL`, `QUEUE_TIMEOUT` or `MANAGER_CLOSED`; the signal's
   * reason if it aborts.
   */
  admit(call?: AdmitOptions): Pass | Promise<Pass>
}

/** One API in a snapshot of the manager. */
export interface ApiStatus {
  readonly baseUrl: string
  readonly issuer: string
  /** Queued calls, where the API has a rate policy. */
  readonly queued?: number
  /** Calls under way, where the API has a rate policy. */
  readonly running?: number
  /**
   * Share of the fullest limit that is in use, 0 to 1, where the limiter knows it: by this process, or with a shared
   * limiter by all processes, as it said last.
   */
  readonly quotaUsed?: number
  /** Calls that the limits allow now, where the limiter knows it: as `quotaUsed`, and less where the API itself says so. */
  readonly quotaLeft?: number
  /** With `accounting: 'learned'`: within how many milliseconds after its send a call counts as arrived. */
  readonly arrivesWithin?: number
  /** About what the API takes, where it refuses what the rate policy allows: the limits that are kept instead. */
  readonly allows?: readonly NamedLimit[]
  /**
   * Where slow responses and a strict policy leave less than 0.7 of the quota to calls that wait: the `share` that they
   * got when they waited last, and the `option` of the rate policy that gives more.
   */
  readonly slowed?: { readonly share: number; readonly option: string }
  /** ISO 8601, while the API is paused because it said that the limit was passed. */
  readonly pausedUntil?: string
  /**
   * ISO 8601, while calls are queued: when the last of them goes out at the earliest, by the limits and the time that
   * calls held their slots. The time that responses take, later calls and pauses that the API asks for add to it.
   */
  readonly emptyAt?: string
}
