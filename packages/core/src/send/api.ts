import type { TokenlaneError } from '../errors.ts'
import type { QueueStatus } from '../queue/api-queue.ts'
import type { CallOptions } from '../queue/call-options.ts'
import type { ResponseHead } from '../limits/rate-limit-headers.ts'

/** Status and headers of one response, as an adapter reports them. */
export interface Report extends ResponseHead {
  /**
   * The `WWW-Authenticate` header. It distinguishes a refused token from other reasons for a 401.
   *
   * @defaultValue what `header` returns for it
   */
  readonly wwwAuthenticate?: string | null | undefined
}

/** One HTTP exchange, made by an adapter. */
export interface Exchange<T> extends Report {
  /** What the caller gets if this was the last attempt. */
  readonly result: T
  /**
   * Frees the resources of an unwanted response: drains a short body, cancels a long one. Called at most once; failures
   * are ignored.
   */
  discard(): unknown
  /**
   * Resolves with what the caller gets, where that takes more work: called instead of reading `result`. An adapter that
   * follows redirects itself does it here; `pass.follow()` waits for the pass of a hop within the API.
   */
  readonly follow?: ((pass: Pass) => Promise<T>) | undefined
}

/** The longest wait of a call for a token, by its client's own timeout. */
export interface TokenWait {
  /** In milliseconds, 1 or more. The wait for a turn does not count. */
  readonly ms: number
  /** Returns what the call fails with. `cause` says why there was no token. */
  readonly error: (cause: TokenlaneError) => unknown
}

/** How one call is to be treated. */
export interface AdmitOptions extends CallOptions {
  /** Name of the HTTP client, such as `fetch`. For observers only. */
  readonly client?: string | undefined
  /** HTTP method: says whether the call may be sent again, and which limits it counts towards. */
  readonly method?: string | undefined
  /** Where it is sent, for limits of paths and for the cost of a call; a function is called only for these. */
  readonly url?: string | URL | (() => URL) | undefined
  /** Ends each wait for a token, and no other. Default: the issuer's `maxWait` alone does. */
  readonly tokenWait?: TokenWait | undefined
  /** Ends all of the call's waits. The client itself aborts the request. */
  readonly signal?: AbortSignal | null | undefined
  /**
   * Whether the same request can be sent again; `false` for a body that can only be read once.
   *
   * @defaultValue true
   */
  readonly replayable?: boolean | undefined
  /**
   * Throws the error with which the client refuses a call that is wrong. Called before the call waits, and when an attempt
   * has failed: one that the client has refused gives its unit back.
   */
  readonly mustBeRight?: (() => void) | undefined
}

/** How `send` treats a call. */
export interface SendOptions extends AdmitOptions {
  /** A pass for the first attempt, for a client that waits in one place and sends in another. `send` releases it. */
  readonly pass?: Pass | undefined
}

/** What follows an attempt: the caller gets its response, or the call is sent again. */
export type Verdict = 'final' | 'again'

/**
 * Performs one HTTP exchange with the given `Authorization` header.
 *
 * `judge` may be asked as soon as the status is known, before the body is read: with `again`, the body is unwanted.
 * Otherwise the exchange that is returned is judged.
 */
export type Attempt<T> = (authorization: string, judge: (report: Report) => Verdict) => Promise<Exchange<T>>

/** The right to send one attempt. */
export interface Pass {
  /** The `Authorization` header to send. It goes on the wire and nowhere else. */
  readonly authorization: string
  /**
   * Notes that the request is leaving. A pass released before this returns its unit of the rate policy at once;
   * afterwards, the unit stays taken for as long as the request may be on its way.
   */
  sent(): void
  /**
   * Judges the response; the first judgement of an attempt stands. `again` means that one more attempt is due: see
   * `next`. After a redirect, the pass no longer holds a slot, but keeps the manager open until it is released.
   */
  report(report: Report): Verdict
  /**
   * Waits for the next attempt's pass, ahead of all calls not yet sent; releases this one.
   *
   * @throws as `admit` does; `MANAGER_CLOSED` if a call that was refused for a rate limit waits in vain, because the
   * manager closes or the API accepts no call: the caller gets that response.
   */
  next(): Promise<Pass>
  /**
   * Waits for the pass of a redirect within the API, and releases this one. It goes ahead of all calls not yet sent,
   * and is not refused because of a full queue or a closing manager.
   *
   * @param call options of the redirected request, as for `admit`.
   * @throws as `admit` does.
   */
  follow(call?: AdmitOptions): Promise<Pass>
  /**
   * Gives back everything the call holds. Safe to call again.
   *
   * @param failure what the attempt failed with, for observers.
   */
  release(failure?: unknown): void
}

/** A protected API, as adapters see it. */
export interface Api {
  /** Origin and path prefix of the API, as the WHATWG URL parser writes it. */
  readonly baseUrl: string
  /** Name of the issuer whose tokens it accepts. */
  readonly issuer: string
  /**
   * Sends a call with a live token, and once more after a 401 about the token.
   *
   * Errors that `attempt` throws are passed on.
   *
   * @throws TokenlaneError if there is no token, `QUEUE_FULL`, `QUEUE_TIMEOUT` or `MANAGER_CLOSED`: then nothing was
   * sent, except an attempt that the API had refused; the signal's reason if it aborts while the call waits.
   */
  send<T>(attempt: Attempt<T>, call?: SendOptions): Promise<T>
  /**
   * Returns the right to send one attempt, for clients that make the attempts themselves: synchronously if there is
   * nothing to wait for, otherwise as a promise. Every failure is a rejection.
   *
   * The adapter must release every pass it takes, whatever happens.
   *
   * @throws TokenlaneError if there is no token, `QUEUE_FULL`, `QUEUE_TIMEOUT` or `MANAGER_CLOSED`; the signal's reason
   * if it aborts.
   */
  admit(call?: AdmitOptions): Pass | Promise<Pass>
  /** Whether a call that is made now has to wait: for a token, a slot or a unit. */
  mustWait(): boolean
  /**
   * Notes the status of a response to a call that was sent with an `Authorization` of its own, so not by this API: people
   * are told of the first 401.
   */
  kept(status: number): void
}

/** One API in a snapshot of the manager. What is about its queue and limits is there if it has a rate policy. */
export interface ApiStatus extends Partial<QueueStatus> {
  readonly baseUrl: string
  readonly issuer: string
  /** Set while the API refuses every token, new ones too; see the event `rejection.repeated`. */
  readonly refusesTokens?: true
}
