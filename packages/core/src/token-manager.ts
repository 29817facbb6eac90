/// <reference lib="esnext.disposable" preserve="true" />
import type { AccessToken } from './token/access-token.ts'
import type { Api } from './send/api.ts'
import { checkOptions } from './manager/check-options.ts'
import type { TokenManagerOptions } from './manager/manager-options.ts'
import { GuardedStore } from './store/guarded-store.ts'
import { type ManagerStatus, Registration } from './manager/registration.ts'
import { rememberManager } from './manager/known-managers.ts'
import { mustNotBeInBrowser } from './not-in-browser.ts'
import { nodeDebugObserver } from './log-observer.ts'
import type { Observer } from './events.ts'
import { Observers } from './manager/observers.ts'
import { processMustKeepFloor } from './tls/tls-floor.ts'
import type { RatePolicy } from './queue/rate-policy.ts'
import { mustBeText, refuse, shape } from './options/check.ts'
import { refusingTo } from './options/faults.ts'
import { sharedByTenants } from './manager/shared-by-tenants.ts'
import { tenantOptions } from './manager/tenant-options.ts'
import { Tenants } from './manager/tenants.ts'
import { TokenlaneError } from './errors.ts'

export type { IssuerStatus } from './manager/managed-issuer.ts'
export type { ManagerStatus } from './manager/registration.ts'

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
   * @param baseUrl The `baseUrl` of one of the `apis` that was created with a rate policy, if only `{ limits: [] }`.
   * @param policy All of the policy: what is left out has its default.
   * @throws TokenlaneError `INVALID_OPTIONS` for a policy that would be refused at start, for any other URL, and for
   * a shared limiter that cannot change its policy.
   */
  setRatePolicy(baseUrl: string | URL, policy: RatePolicy): void
  /**
   * Returns the manager of one tenant: the same APIs, with the tenant's own registration at every issuer. Its tokens
   * and queues are its own, and its limits as `tenantLimits` says. What the `tenants` option returns for the tenant is read when the first call needs
   * it, and again when the tenant was dropped because others were used more recently.
   *
   * @param id The name of the tenant, as the `tenants` option knows it. Choose it by the customer whose call it is, never by URL.
   * @throws TokenlaneError `INVALID_OPTIONS` for what is not a name, and where there is no `tenants` option.
   */
  forTenant(id: string): TokenManager<Issuer>
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
  const checked = checkOptions(options)
  const { observe, store, tenants: optionsOf, mostTenants } = checked
  // what messages and events name as their manager, before it has its functions
  const tokens = {} as TokenManager<Issuer>
  const observers = new Observers(observe, tokens)
  const debug = nodeDebugObserver()
  if (debug !== undefined) observers.add(debug)
  const guarded = store && new GuardedStore(store, observers.emit)
  const shared = sharedByTenants(checked, observers.emit)
  const registration = new Registration(checked, guarded, observers.emit, shared)
  rememberManager(tokens, { options: checked, registration })

  const tenants = new Tenants(mostTenants, (id) => {
    const own = tenantOptions(id, { ...options, tenants: undefined }, checked)
    const emit = observers.emitFor(id)
    const hasOwnApis = own.apis !== checked.apis
    return new Registration(own, guarded, emit, hasOwnApis ? sharedByTenants(own, emit) : shared)
  })

  const forTenant = (id: string): TokenManager<Issuer> => {
    mustBeTenant(id, optionsOf)
    return face(() => tenants.get(id), {
      forTenant,
      observe: (observer) => observers.addFor(id, mustBeObserver(observer)),
      close: () => tenants.close(id),
    })
  }

  return Object.assign(
    tokens,
    face<Issuer>(() => registration, {
      forTenant,
      observe: (observer) => observers.add(mustBeObserver(observer)),
      async close() {
        await Promise.all([registration.close(), tenants.closeAll()])
      },
    }),
  )
}

/** A manager's functions, which may be taken off it. What a tenant has is looked up at each call. */
function face<Issuer extends string>(
  current: () => Registration,
  own: Pick<TokenManager, 'forTenant' | 'observe' | 'close'>,
): TokenManager<Issuer> {
  return {
    getToken: async (issuer, options) => current().getToken(issuer, options),
    route: (url) => current().route(url),
    status: () => current().status(),
    warmUp: async () => current().warmUp(),
    resume: (baseUrl) => current().resume(baseUrl),
    setRatePolicy: (baseUrl, policy) => current().setRatePolicy(baseUrl, policy),
    ...own,
    [Symbol.asyncDispose]: own.close,
  }
}

function mustBeTenant(id: unknown, optionsOf: unknown): void {
  refusingTo('use tenant', () => {
    mustBeText(id, 'id', 'the name of a tenant')
    if (optionsOf === undefined)
      refuse('tenants', 'missing', 'a function that returns the options of a tenant')
  })
}

function mustBeObserver(observer: unknown): Observer {
  if (typeof observer === 'function') return observer as Observer
  return refusingTo('observe', () => refuse('observer', shape(observer), 'a function'))
}
