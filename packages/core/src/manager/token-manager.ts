/// <reference lib="esnext.disposable" preserve="true" />
import type { AccessToken } from '../access-token.ts'
import type { Api, ApiStatus } from '../send/api.ts'
import type { CallsUnderWay } from '../send/calls-under-way.ts'
import { checkRatePolicy, type RatePolicy } from '../limits/rate-policy.ts'
import { closedError, errorForAll, errorForCaller, type TokenlaneError } from '../errors.ts'
import { printable } from '../foreign-text.ts'
import { isBareHop } from '../follow/bare-hop.ts'
import { issuerNames } from './check-apis.ts'
import type { Observer } from '../events.ts'
import type { Observers } from './observers.ts'
import type { ProtectedApi } from '../send/protected-api.ts'
import { refuse, refusingTo } from '../options/check.ts'
import { aFunction } from '../options/reader.ts'
import { type CloseOptions, closeWithin, type CutOff } from './close-within.ts'
import type { CurrentToken, RenewingToken, TokenStatus } from '../token/renewing-token.ts'
import { Router } from '../send/router.ts'
import { CallsWithoutToken } from '../send/calls-without-token.ts'
import { withoutLastSlash } from '../options/urls.ts'

export interface IssuerStatus extends TokenStatus {
  /** Whole days until the secret in use must be rotated, where `secretIssuedAt` is known. */
  readonly daysLeft?: number
  /** Set while several processes invalidate each other's tokens; see the event `token.contested`. */
  readonly contested?: true
  /** The scopes that were asked for and that the last token lacks, if any; see the event `scope.narrowed`. */
  readonly missingScopes?: readonly string[]
}

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
   * @param issuer A name from `issuers`. May be left out if there is only one.
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
  getToken(issuer?: Issuer, options?: { readonly signal?: AbortSignal | undefined }): Promise<AccessToken>
  /**
   * Drops an issuer's token, for example after a leak: calls get a new one from now on. A shared store drops it, too; other
   * processes use their copy until an API refuses it. A call that was sent with the old token is judged as ever.
   *
   * @param issuer A name from `issuers`. May be left out if there is only one.
   * @throws TokenlaneError `INVALID_OPTIONS` for an unknown name.
   */
  invalidate(issuer?: Issuer): void
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
   * Cuts short a pause that an API asked for (`Retry-After`, a rate limit header); with a shared limiter, for the whole
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
   * each call was queued. Named limits are shared with APIs that had one at creation, as this one must have had.
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
   *
   * With `timeout` (milliseconds) or `signal` it resolves at the latest then. Requests that were sent are not aborted:
   * they end by themselves, or with the process.
   *
   * @returns what was cut off: zeros if all has ended.
   * @throws TokenlaneError `INVALID_OPTIONS` for another `timeout` or `signal`.
   */
  close(): Promise<void>
  close(options: CloseOptions): Promise<CutOff>
}

interface RegistrationParts {
  readonly issuers: ReadonlyMap<
    string,
    {
      readonly token: Pick<RenewingToken, 'isIdle' | 'close'> & CurrentToken
      status(): IssuerStatus
    }
  >
  readonly apis: readonly ProtectedApi[]
  readonly callsUnderWay: CallsUnderWay
  readonly observers: Observers
  /** Shared by the managers of one application. */
  readonly callsWithoutToken?: CallsWithoutToken | undefined
}

/** A manager and what only this package asks of it. */
export interface Registration {
  /** Functions of the manager that may be called without it. */
  readonly functions: TokenManager
  /** Takes a URL at which tokens are requested out of every API. */
  exclude(tokenEndpoint: URL): void
  /** Whether no call is under way and no renewal runs. */
  isIdle(): boolean
}

const readObserver = aFunction<Observer>('a function')

export function checkedObserver(observer: Observer): Observer {
  return refusingTo('observe', () => readObserver(observer, 'observer'))
}

export function register(parts: RegistrationParts): Registration {
  const { issuers, apis, callsUnderWay, observers, callsWithoutToken = new CallsWithoutToken() } = parts
  const router = new Router(apis, observers.emit)
  const tokenEndpoints = new Set<string>()
  const leave = callsWithoutToken.join(
    apis.map(({ baseUrl }) => baseUrl),
    observers.emit,
  )
  const tokens = Array.from(issuers.values(), ({ token }) => token)

  async function getToken(
    issuer?: string,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<AccessToken> {
    const name = issuer ?? refusingTo('get token', () => onlyName(issuers))
    const { token } = refusingTo('get token', () => issuerNamed(issuers, name))
    signal?.throwIfAborted()
    if (callsUnderWay.closed) throw closedError(`issuer "${printable(name)}"`)
    try {
      return token.live() ?? (await token.wait(signal))
    } catch (error) {
      throw errorForCaller(error)
    }
  }

  async function close(options: CloseOptions = {}): Promise<CutOff> {
    leave()
    await closeWithin(options, async (over) => {
      const underWay = Promise.race([callsUnderWay.close(), over])
      await Promise.all(apis.map((api) => api.close(underWay)))
      await Promise.all(tokens.map((token) => token.close()))
    })
    return { calls: callsUnderWay.count, tokenRequests: tokens.filter((token) => !token.isIdle).length }
  }

  return {
    exclude(url) {
      const place = url.origin + url.pathname
      if (tokenEndpoints.has(place)) return
      tokenEndpoints.add(place)
      callsWithoutToken.exclude(place)
      router.exclude(url)
    },
    isIdle: () => callsUnderWay.count === 0 && tokens.every((token) => token.isIdle),
    functions: {
      getToken,
      route: (url) => (isBareHop() ? undefined : router.match(url)),
      invalidate: (name) =>
        refusingTo('invalidate token', () =>
          issuerNamed(issuers, name ?? onlyName(issuers)),
        ).token.held.forget(),
      status: () => ({
        issuers: Object.fromEntries(Array.from(issuers, ([name, issuer]) => [name, issuer.status()])),
        apis: apis.map((api) => api.status()),
      }),
      observe: (observer) => observers.add(checkedObserver(observer)),
      async warmUp() {
        const outcomes = await Promise.allSettled(Array.from(issuers.keys(), (name) => getToken(name)))
        const failed = outcomes.flatMap((outcome) =>
          outcome.status === 'rejected' ? [outcome.reason as TokenlaneError] : [],
        )
        const [first] = failed
        if (first)
          throw errorForAll(failed, first.code, `Cannot obtain tokens from ${failed.length} issuers:`)
      },
      resume: (baseUrl) => refusingTo('resume', () => apiAt(apis, baseUrl).resume()),
      setRatePolicy: (baseUrl, policy) =>
        refusingTo('set rate policy', () =>
          apiAt(apis, baseUrl).setRatePolicy(checkRatePolicy(policy, 'ratePolicy')),
        ),
      close: close as TokenManager['close'],
      [Symbol.asyncDispose]: async () => void (await close()),
    },
  }
}

/** Returns the API of that base URL, with or without a slash at its end; `INVALID_OPTIONS` for any other URL. */
export function apiAt<T extends Pick<Api, 'baseUrl'>>(apis: readonly T[], baseUrl: string | URL): T {
  const href = URL.parse(String(baseUrl))?.href ?? ''
  return (
    apis.find((api) => withoutLastSlash(api.baseUrl) === withoutLastSlash(href)) ??
    refuse('baseUrl', 'not an API of this manager', apis.map((api) => api.baseUrl).join(', '))
  )
}

export function issuerNamed<T>(issuers: ReadonlyMap<string, T>, name: string): T {
  return issuers.get(name) ?? refuse('issuer', 'not an issuer of this manager', issuerNames(issuers.keys()))
}

function onlyName(issuers: ReadonlyMap<string, unknown>): string {
  const [only, ...others] = issuers.keys()
  return others.length === 0 && only !== undefined
    ? only
    : refuse('issuer', 'missing', issuerNames(issuers.keys()))
}

/** Returns a manager whose functions look up the manager in `current` at each call, also when called without it. */
export function standInFor<Issuer extends string>(current: () => TokenManager<Issuer>): TokenManager<Issuer> {
  return {
    getToken: async (issuer, options) => current().getToken(issuer, options),
    invalidate: (issuer) => current().invalidate(issuer),
    route: (url) => current().route(url),
    status: () => current().status(),
    observe: (observer) => current().observe(observer),
    warmUp: async () => current().warmUp(),
    resume: (baseUrl) => current().resume(baseUrl),
    setRatePolicy: (baseUrl, policy) => current().setRatePolicy(baseUrl, policy),
    close: (async (options: CloseOptions = {}) => current().close(options)) as TokenManager['close'],
    [Symbol.asyncDispose]: async () => current().close(),
  }
}
