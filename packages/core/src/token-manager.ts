/// <reference lib="esnext.disposable" preserve="true" />
import type { AccessToken } from './token/access-token.ts'
import type { Api } from './send/api.ts'
import type { TokenManagerOptions } from './manager/manager-options.ts'
import type { ManagerStatus } from './manager/registration.ts'
import { putTogether } from './manager/put-together.ts'
import type { Observer } from './events.ts'
import type { RatePolicy } from './queue/rate-policy.ts'

export type { IssuerStatus } from './manager/managed-issuer.ts'
export type { ManagerStatus } from './manager/registration.ts'

/**
 * Obtains and renews an application's access tokens and attaches them to its calls. `Issuer` has the names of its
 * issuers.
 */
export interface TokenManager<Issuer extends string = string> extends AsyncDisposable {
  /**
   * Returns a token that is valid now, renewed if it must be. Concurrent callers share one token request.
   *
   * @param issuer A name from `issuers`.
   * @param options `signal` ends this wait only.
   * @throws TokenlaneError `TOKEN_REQUEST_REFUSED` if the issuer refuses, `TOKEN_REQUEST_FAILED`,
   * `TOKEN_REQUEST_TIMEOUT` or `TOKEN_RESPONSE_INVALID` if it gives none, `INSECURE_TRANSPORT` if it could only be
   * asked below TLS 1.2, `CREDENTIALS_UNAVAILABLE`, `MANAGER_CLOSED`, or `INVALID_OPTIONS` for another
   * name; the signal's reason if it aborts.
   * @example
   * ```ts
   * const { value } = await tokens.getToken('weblink', { signal })
   * ```
   */
  getToken(issuer: Issuer, options?: { readonly signal?: AbortSignal | undefined }): Promise<AccessToken>
  /** Returns the API that an absolute URL belongs to, `undefined` for a URL that gets no token. */
  route(url: string | URL): Api | undefined
  /** Returns the state of every issuer and API. Contains no secrets. */
  status(): ManagerStatus<Issuer>
  /**
   * Adds an observer to those of the options, and returns a function that takes it off again.
   *
   * @throws TokenlaneError `INVALID_OPTIONS` for what is not a function.
   */
  observe(observer: Observer): () => void
  /**
   * Obtains every issuer's token, so that a wrong configuration shows at start-up.
   *
   * @throws TokenlaneError why an issuer gave no token. If several gave none, the message names each, `failures` holds
   * an error for each, and `code` is that of the first.
   */
  warmUp(): Promise<void>
  /**
   * Lifts a pause that an API asked for (`Retry-After`, a rate limit header) before its end; with a shared limiter for
   * the whole fleet. The API's queued calls go on at once, as fast as the rate policy allows. Does nothing for an API
   * that is not paused.
   *
   * @param baseUrl The `baseUrl` of one of the `apis`.
   * @throws TokenlaneError `INVALID_OPTIONS` for any other URL.
   */
  resume(baseUrl: string | URL): void
  /**
   * Keeps another rate policy from now on, for queued calls too. What was sent counts in the new limits, as far back as
   * the longest window until now. Calls that are queued beyond a lower `maxQueued` stay queued; a new `maxWait` counts
   * from when each call was queued.
   *
   * @param baseUrl The `baseUrl` of one of the `apis` that was created with a rate policy, if only `{ limits: [] }`.
   * @param policy All of the policy: what is left out has its default.
   * @throws TokenlaneError `INVALID_OPTIONS` for a policy that would be refused at start, for any other URL, and for
   * a shared limiter that cannot change its policy.
   */
  setRatePolicy(baseUrl: string | URL, policy: RatePolicy): void
  /**
   * Takes no new calls, refuses queued ones (`MANAGER_CLOSED`), and resolves when those under way have ended, with their
   * retries and redirects. Nothing keeps the process alive after.
   */
  close(): Promise<void>
}

/**
 * Creates the token manager of an application. Nothing is requested before the first call.
 *
 * @throws TokenlaneError `INVALID_OPTIONS` or `INSECURE_TRANSPORT`, naming every option that is wrong and what is
 * allowed;
 * `CLIENT_SIDE_FORBIDDEN` in a browser's page or worker.
 * @example
 * ```ts
 * const tokens = createTokenManager({
 *   issuers: {
 *     general: generalIssuer({ authUrl: 'https://auth.example.com', credentials: envCredentials('GENERAL') }),
 *   },
 *   apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general' }],
 * })
 * ```
 */
export function createTokenManager<const Issuer extends string>(
  options: TokenManagerOptions<Issuer>,
): TokenManager<Issuer> {
  // what messages and events name as their manager, before it has its functions
  const tokens = {} as TokenManager<Issuer>
  return Object.assign(tokens, putTogether(options, tokens).functions)
}
