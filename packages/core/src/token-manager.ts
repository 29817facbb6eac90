/// <reference lib="esnext.disposable" preserve="true" />
import type { AccessToken } from './token/access-token.ts'
import type { Api, ApiStatus } from './send/api.ts'
import { mustNotBeInBrowser } from './not-in-browser.ts'
import { refuse, shape } from './options/check.ts'
import { askIssuer } from './issuer/ask-issuer.ts'
import { tokenEndpoint } from './issuer/token-endpoint.ts'
import { withCredentials } from './issuer/with-credentials.ts'
import { closedError, isTokenlaneError, reasonOf, TokenlaneError, type TokenlaneErrorCode } from './errors.ts'
import { Observers, type Emit, type Observer } from './events.ts'
import { nodeDebugObserver } from './log-observer.ts'
import { CallsUnderWay } from './send/calls-under-way.ts'
import { GuardedStore } from './store/guarded-store.ts'
import type { CheckedIssuer } from './credentials/check-issuer.ts'
import { checkOptions, known, type TokenManagerOptions } from './manager-options.ts'
import { MissedRoutes } from './send/missed-routes.ts'
import { checkRatePolicy, type RatePolicy } from './queue/rate-policy.ts'
import { ProtectedApi } from './send/protected-api.ts'
import { RenewingToken } from './token/renewing-token.ts'
import { CredentialRotation } from './credentials/credential-rotation.ts'
import { Router } from './send/router.ts'
import { shareWithFleet } from './store/share-with-fleet.ts'
import { processMustKeepFloor } from './tls/tls-floor.ts'

/** A plain snapshot for a health endpoint, with the names of the manager's issuers. Holds no secret. */
export interface ManagerStatus<Issuer extends string = string> {
  readonly issuers: Readonly<Record<Issuer, IssuerStatus>>
  /** In the order of the options. */
  readonly apis: readonly ApiStatus[]
}

export interface IssuerStatus {
  readonly token: 'none' | 'live' | 'expired'
  /** ISO 8601. */
  readonly expiresAt?: string
  /** Code of the last failure, until a renewal succeeds. */
  readonly lastError?: TokenlaneErrorCode
  /** Whole days until the secret in use must be rotated, where `secretIssuedAt` is known. */
  readonly daysLeft?: number
}

/**
 * The tokens of one application: obtained, renewed, and given to the calls that they are for. `Issuer` has the names of
 * its issuers.
 */
export interface TokenManager<Issuer extends string = string> extends AsyncDisposable {
  /**
   * Returns a token that is valid now, renewed if it must be. Concurrent callers share one token request.
   *
   * @param issuer A name from `issuers`.
   * @param options `signal` ends this wait only.
   * @throws TokenlaneError `TOKEN_REQUEST_REFUSED` if the issuer says no, `TOKEN_REQUEST_FAILED`,
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
  /** Returns how things are, without secrets. */
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
   * @throws TokenlaneError why an issuer gave no token. If several gave none, the message names each, `errors` holds
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
   * @param baseUrl The `baseUrl` of one of the `apis` that was created with a rate policy, be it `{ limits: [] }`.
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
  mustNotBeInBrowser()
  processMustKeepFloor((reason) => {
    throw new TokenlaneError('INSECURE_TRANSPORT', `Cannot create token manager: ${reason}`)
  })
  const { issuers, apis, store, observe, fetch, limiter } = checkOptions(options)
  // what messages and events name as their manager, before it has its functions
  const tokens = {} as TokenManager<Issuer>
  const observed = new Observers(observe, tokens)
  const debug = nodeDebugObserver()
  if (debug !== undefined) observed.add(debug)
  const { emit } = observed

  const shared = store && new GuardedStore(store, emit)

  const callsUnderWay = new CallsUnderWay()
  const managed = new Map<string, ManagedIssuer>()
  for (const [name, issuer] of issuers) managed.set(name, manage(name, issuer, emit, fetch, shared))
  const protectedApis = apis.map((api) => {
    const { token } = managed.get(api.issuer) as ManagedIssuer
    return new ProtectedApi({ ...api, token, callsUnderWay, emit, limiter })
  })
  const tokenEndpoints = Array.from(issuers.values(), ({ place }) => place)
  const router = new Router(protectedApis, tokenEndpoints)
  const missed = new MissedRoutes(protectedApis, tokenEndpoints, emit)

  const tokenOf = async (name: string, signal?: AbortSignal): Promise<AccessToken> => {
    const issuer = managed.get(name)
    if (issuer === undefined) throw unknownIssuer(name, managed)
    signal?.throwIfAborted()
    if (callsUnderWay.closed) throw closedError(`issuer "${name}"`)
    return issuer.token.live() ?? issuer.token.wait(signal)
  }

  const apiAt = (baseUrl: string | URL): ProtectedApi => {
    const place = placeOf(baseUrl)
    const api = protectedApis.find((each) => placeOf(each.baseUrl) === place)
    if (api === undefined)
      refuse('baseUrl', 'not an API of this manager', apis.map((each) => each.baseUrl).join(', '))
    return api
  }

  const close = async (): Promise<void> => {
    const underWay = callsUnderWay.close()
    for (const api of protectedApis) api.close()
    await underWay
    await Promise.all(protectedApis.map((api) => api.ended()))
    await Promise.all(Array.from(managed.values(), ({ token }) => token.close()))
  }

  return Object.assign(tokens, {
    getToken: (name, { signal } = {}) => tokenOf(name, signal),
    route(url) {
      const api = router.match(url)
      if (api === undefined && emit.isObserved) missed.look(url)
      return api
    },
    observe(observer) {
      if (typeof observer !== 'function') refuse('observer', shape(observer), 'a function')
      return observed.add(observer)
    },
    status: () => ({
      issuers: Object.fromEntries(
        Array.from(managed, ([name, issuer]) => [name, statusOf(issuer)]),
      ) as Record<Issuer, IssuerStatus>,
      apis: protectedApis.map((api) => api.status()),
    }),
    async warmUp() {
      const outcomes = await Promise.allSettled(Array.from(managed.keys(), (name) => tokenOf(name)))
      const failed = outcomes.flatMap((outcome) =>
        outcome.status === 'rejected' ? [outcome.reason as TokenlaneError] : [],
      )
      if (failed.length > 0) throw oneOf(failed)
    },
    resume: (baseUrl) => atRunTime('resume', () => apiAt(baseUrl).resume()),
    setRatePolicy: (baseUrl, policy) =>
      atRunTime('set rate policy', () => apiAt(baseUrl).setRatePolicy(checkRatePolicy(policy, 'ratePolicy'))),
    close,
    [Symbol.asyncDispose]: close,
  } satisfies TokenManager<Issuer>)
}

/** Returns the error of several issuers that gave no token; that of a single one is the error itself. */
function oneOf(errors: readonly TokenlaneError[]): TokenlaneError {
  const [first] = errors as readonly [TokenlaneError]
  if (errors.length === 1) return first
  const reasons = errors.map((error) => reasonOf(error).replace(/^Cannot obtain token: /, ''))
  return new TokenlaneError(
    first.code,
    `Cannot obtain the tokens of ${errors.length} issuers: ${reasons.join('; ')}`,
    { errors },
  )
}

interface ManagedIssuer {
  readonly token: RenewingToken
  readonly credentials: CredentialRotation
}

function manage(
  name: string,
  issuer: CheckedIssuer,
  emit: Emit,
  fetch: typeof globalThis.fetch | undefined,
  store: GuardedStore | undefined,
): ManagedIssuer {
  const credentials = new CredentialRotation({ ...issuer.credentials, issuer: name, emit })
  const endpoint = tokenEndpoint(name, issuer, fetch, emit?.manager)
  const { renewBefore, maxWait } = issuer
  // calls may come to wait for a renewal that began in the background
  const requestTimeout = Math.min(issuer.requestTimeout, maxWait)
  // half of the wait: if the process that asks dies, a waiting one has as much time to ask itself
  const lease = Math.min(requestTimeout, maxWait / 2)
  const issuing = askIssuer(endpoint, requestTimeout)
  const shared = store ? shareWithFleet(store, issuing, endpoint, lease) : issuing
  const source = withCredentials(credentials, shared, requestTimeout)
  const token = new RenewingToken(source, {
    issuer: name,
    endpoint: issuer.place.origin + issuer.place.pathname,
    renewBefore,
    maxWait,
    credentialsMayChange: credentials.mayChange,
    emit,
  })
  return { token, credentials }
}

function statusOf({ token, credentials }: ManagedIssuer): IssuerStatus {
  const { expiresAt, ...status } = token.status()
  const daysLeft = credentials.daysLeft()
  return {
    ...status,
    ...(expiresAt && { expiresAt: expiresAt.toISOString() }),
    ...(daysLeft !== undefined && { daysLeft }),
  }
}

/** Checks options as at start; the error says what could not be done. */
function atRunTime(action: string, act: () => void): void {
  try {
    act()
  } catch (error) {
    if (!isTokenlaneError(error) || error.code !== 'INVALID_OPTIONS') throw error
    const reason = reasonOf(error).replace(/^Cannot create token manager/, `Cannot ${action}`)
    throw new TokenlaneError('INVALID_OPTIONS', reason)
  }
}

/** What a base URL stands for, with or without a slash at its end. */
function placeOf(baseUrl: string | URL): string | undefined {
  return URL.parse(String(baseUrl))?.href.replace(/\/+$/, '')
}

function unknownIssuer(name: unknown, issuers: ReadonlyMap<string, unknown>): TokenlaneError {
  const given = typeof name === 'string' ? 'not an issuer of this manager' : shape(name)
  return new TokenlaneError(
    'INVALID_OPTIONS',
    `Cannot get token: \`issuer\` is ${given}; allowed: ${known(issuers.keys())}`,
  )
}
