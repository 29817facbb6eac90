/// <reference lib="esnext.disposable" preserve="true" />
import type { AccessToken } from '../token/access-token.ts'
import type { Api, ApiStatus } from '../send/api.ts'
import type { IssuerStatus } from './managed-issuer.ts'
import type { Observer } from '../events.ts'
import type { RatePolicy } from '../queue/rate-policy.ts'

/** A plain snapshot for a health endpoint, keyed by the manager's issuer names. Holds no secrets. */
export interface ManagerStatus<Issuer extends string = string> {
  readonly issuers: Readonly<Record<Issuer, IssuerStatus>>
  /** In the order of the options. */
  readonly apis: readonly ApiStatus[]
}

/**
 * Obtains and renews an application's access tokens and attaches them to its calls. `Issuer` is the union of its
 * issuers' names.
 */
export interface TokenManager<Issuer extends string = string> extends AsyncDisposable {
  /**
   * Returns a token that is valid now, renewed if necessary. Concurrent callers share one token request.
   *
   * @param issuer A name from `issuers`.
   * @param options `signal` ends this wait only.
   * @throws TokenlaneError `TOKEN_REQUEST_REFUSED` if the issuer refuses, `TOKEN_REQUEST_FAILED`,
   * `TOKEN_REQUEST_TIMEOUT` or `TOKEN_RESPONSE_INVALID` if it returns none, `INSECURE_TRANSPORT` if it could only be
   * reached below TLS 1.2, `CREDENTIALS_UNAVAILABLE`, `MANAGER_CLOSED`, or `INVALID_OPTIONS` for an unknown name; the
   * signal's reason if it aborts.
   * @example
   * ```ts
   * const { value } = await tokens.getToken('weblink', { signal })
   * ```
   */
  getToken(issuer: Issuer, options?: { readonly signal?: AbortSignal | undefined }): Promise<AccessToken>
  /** Returns the API that an absolute URL belongs to, or `undefined` for a URL that gets no token. */
  route(url: string | URL): Api | undefined
  /** Returns the state of every issuer and API. Contains no secrets. */
  status(): ManagerStatus<Issuer>
  /**
   * Adds an observer to those in the options, and returns a function that removes it.
   *
   * @throws TokenlaneError `INVALID_OPTIONS` for anything but a function.
   */
  observe(observer: Observer): () => void
  /**
   * Obtains every issuer's token, so that configuration mistakes show at start-up.
   *
   * @throws TokenlaneError saying why an issuer returned no token. If several failed, the message names each of them,
   * `failures` holds one error per issuer, and `code` is the first one's.
   */
  warmUp(): Promise<void>
  /**
   * Ends early a pause that an API asked for (`Retry-After`, a rate limit header); with a shared limiter, for the whole
   * fleet. The API's queued calls resume at once, as fast as the rate policy allows. Does nothing if the API is not
   * paused.
   *
   * @param baseUrl The `baseUrl` of one of the `apis`.
   * @throws TokenlaneError `INVALID_OPTIONS` for any other URL.
   */
  resume(baseUrl: string | URL): void
  /**
   * Replaces an API's rate policy, for queued calls too. Calls already sent count towards the new limits, as far back
   * as the longest window so far. Calls queued beyond a lower `maxQueued` stay queued; a new `maxWait` counts from when
   * each call was queued.
   *
   * @param baseUrl The `baseUrl` of one of the `apis` that was created with a rate policy, even just `{ limits: [] }`.
   * @param policy The complete policy: omitted options take their defaults.
   * @throws TokenlaneError `INVALID_OPTIONS` for a policy that would be refused at start-up, for any other URL, and if
   * a shared limiter cannot change its policy.
   */
  setRatePolicy(baseUrl: string | URL, policy: RatePolicy): void
  /**
   * Accepts no new calls, refuses queued ones (`MANAGER_CLOSED`), and resolves when those under way have ended,
   * including their retries and redirects. Nothing keeps the process alive afterwards.
   */
  close(): Promise<void>
}
