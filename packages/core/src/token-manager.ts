import type { AccessToken } from './access-token.ts'
import { type Api, type ApiStatus, closedError, ProtectedApi } from './api.ts'
import { mustBeObject, mustBeText, refuse, shape } from './check.ts'
import { Environment, type PerEnvironment } from './environment.ts'
import { TokenlaneError, type TokenlaneErrorCode } from './errors.ts'
import { createEmit, type Emit, type Observer } from './events.ts'
import { type CheckedIssuer, checkIssuer, type IssuerOptions } from './issuer.ts'
import { type CheckedPolicy, checkRatePolicy, type RatePolicy } from './rate-policy.ts'
import { RenewingToken } from './renewing-token.ts'
import { RotatingCredentials } from './rotating-credentials.ts'
import { Router } from './router.ts'

/** A protected API and the issuer whose tokens it takes. */
export interface ApiOptions {
  /**
   * Origin and path prefix, one for all environments or one for each. A URL belongs to the API with the same
   * origin and the longest `baseUrl` path that is its prefix on a segment boundary.
   */
  readonly baseUrl: PerEnvironment
  /** A name from `issuers`. */
  readonly issuer: string
  /** What the API allows. Without one its calls never queue. */
  readonly ratePolicy?: RatePolicy | undefined
}

/** Configures a token manager. */
export interface TokenManagerOptions {
  /** Token issuers, by names of your choice. */
  readonly issuers: Readonly<Record<string, IssuerOptions>>
  /** The APIs that get tokens. A URL of none of them is sent exactly as it would be without us. */
  readonly apis: readonly ApiOptions[]
  /**
   * Which environment this process is in, such as `testing` or `production`. Needed where a URL is given by
   * environment.
   */
  readonly environment?: string | undefined
  /** Receives every event; what an observer throws is ignored. */
  readonly observe?: Observer | readonly Observer[] | undefined
  /**
   * Makes the token requests, for proxies and tests. Never the `fetch` that this manager is plugged into.
   *
   * @defaultValue the runtime's `fetch`
   */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/** A plain snapshot for a health endpoint. Holds no secret. */
export interface ManagerStatus {
  readonly issuers: Readonly<Record<string, IssuerStatus>>
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

/** The tokens of one application: obtained, renewed, and given to the calls that they are for. */
export interface TokenManager extends AsyncDisposable {
  /**
   * A token that is valid now, renewed if it must be. Concurrent callers share one token request.
   *
   * @param issuer A name from `issuers`.
   * @param options `signal` ends this wait only.
   * @throws TokenlaneError `TOKEN_REQUEST_REFUSED` if the issuer says no, `TOKEN_REQUEST_FAILED`,
   * `TOKEN_REQUEST_TIMEOUT` or `TOKEN_RESPONSE_INVALID` if it gives none, `CREDENTIALS_UNAVAILABLE`,
   * `MANAGER_CLOSED`, or `INVALID_OPTIONS` for a name that is no issuer.
   * @example
   * ```ts
   * const { value } = await tokens.getToken('weblink', { signal })
   * ```
   */
  getToken(issuer: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<AccessToken>
  /** The API that an absolute URL belongs to, `undefined` for a URL that gets no token. */
  route(url: string | URL): Api | undefined
  /** How things are, without secrets. */
  status(): ManagerStatus
  /**
   * Obtains every issuer's token, so that a wrong configuration shows at start-up.
   *
   * @throws TokenlaneError what failed.
   */
  warmUp(): Promise<void>
  /** Takes no new calls, and ends when those under way have ended. Nothing keeps the process alive after. */
  close(): Promise<void>
}

/**
 * Creates the token manager of an application. Nothing is requested before the first call.
 *
 * @throws TokenlaneError `INVALID_OPTIONS` or `INSECURE_TRANSPORT`, naming the option and what is allowed;
 * `CLIENT_SIDE_FORBIDDEN` in a browser page.
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
export function createTokenManager(options: TokenManagerOptions): TokenManager {
  mustNotBeInBrowser()
  mustBeObject(options, 'options', ['issuers', 'apis', 'environment', 'observe', 'fetch'])
  const environment = new Environment(options.environment)
  const issuers = checkIssuers(options.issuers, environment)
  const apis = checkApis(options.apis, issuers, environment)
  const emit = createEmit(checkObservers(options.observe))
  const fetch = checkFetch(options.fetch)

  const gate = new Gate()
  const managed = new Map<string, ManagedIssuer>()
  for (const [name, issuer] of issuers) managed.set(name, manage(name, issuer, emit, fetch))
  const protectedApis = apis.map((api) => {
    const { token } = managed.get(api.issuer) as ManagedIssuer
    return new ProtectedApi({ ...api, token, gate, emit })
  })
  const router = new Router(protectedApis)

  const tokenOf = async (name: string, signal?: AbortSignal): Promise<AccessToken> => {
    const issuer = managed.get(name)
    if (issuer === undefined) throw unknownIssuer(name, managed)
    signal?.throwIfAborted()
    if (gate.closed) throw closedError(`issuer "${name}"`)
    return issuer.token.live() ?? issuer.token.wait(signal)
  }

  const close = async (): Promise<void> => {
    const underWay = gate.close()
    for (const api of protectedApis) api.close()
    await underWay
    await Promise.all(Array.from(managed.values(), ({ token }) => token.close()))
  }

  return {
    getToken: (name, { signal } = {}) => tokenOf(name, signal),
    route: (url) => router.match(url),
    status: () => ({
      issuers: Object.fromEntries(Array.from(managed, ([name, issuer]) => [name, statusOf(issuer)])),
      apis: protectedApis.map((api) => api.status()),
    }),
    async warmUp() {
      const outcomes = await Promise.allSettled(Array.from(managed.keys(), (name) => tokenOf(name)))
      const failed = outcomes.find((outcome) => outcome.status === 'rejected')
      if (failed !== undefined) throw failed.reason
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

interface ManagedIssuer {
  readonly token: RenewingToken
  readonly credentials: RotatingCredentials
}

function manage(
  name: string,
  issuer: CheckedIssuer,
  emit: Emit,
  fetch: typeof globalThis.fetch | undefined,
): ManagedIssuer {
  const credentials = new RotatingCredentials(name, issuer.credentials, emit)
  const endpoint = { issuer: name, url: issuer.tokenEndpoint, scope: issuer.scope, fetch }
  const { renewBefore, requestTimeout, maxWait } = issuer
  const token = new RenewingToken({ endpoint, credentials, renewBefore, requestTimeout, maxWait, emit })
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

/** Counts the calls under way, so that closing can wait for them. */
class Gate {
  closed = false
  #underWay = 0
  #lastLeft: (() => void) | undefined

  entered(): void {
    this.#underWay += 1
  }

  left(): void {
    this.#underWay -= 1
    if (this.#underWay === 0) this.#lastLeft?.()
  }

  async close(): Promise<void> {
    this.closed = true
    if (this.#underWay === 0) return
    await new Promise<void>((resolve) => {
      const before = this.#lastLeft
      this.#lastLeft = () => {
        before?.()
        resolve()
      }
    })
  }
}

function checkIssuers(value: unknown, environment: Environment): Map<string, CheckedIssuer> {
  mustBeObject(value, 'issuers')
  const issuers = new Map<string, CheckedIssuer>()
  for (const [name, options] of Object.entries(value)) {
    const path = `issuers.${name}`
    const issuer = checkIssuer(options, path, environment)
    for (const [other, { tokenEndpoint, tokenPath }] of issuers) {
      // the service's issuers are different servers; two of them on one origin are a copy-paste
      const bothOfService = tokenPath !== undefined && issuer.tokenPath !== undefined
      if (
        bothOfService &&
        tokenPath !== issuer.tokenPath &&
        tokenEndpoint.origin === issuer.tokenEndpoint.origin
      )
        refuse(
          `${path}.authUrl`,
          `on the same origin as \`issuers.${other}.authUrl\` (${tokenEndpoint.origin})`,
          'an origin for each of the two issuers',
        )
    }
    issuers.set(name, issuer)
  }
  if (issuers.size === 0) refuse('issuers', 'empty', 'one issuer or more, by name')
  return issuers
}

function checkApis(
  value: unknown,
  issuers: ReadonlyMap<string, CheckedIssuer>,
  environment: Environment,
): { baseUrl: string; issuer: string; ratePolicy: CheckedPolicy | undefined }[] {
  if (!Array.isArray(value)) refuse('apis', shape(value), 'an array, which may be empty')
  const places = new Map<string, string>()
  return value.map((api: unknown, index) => {
    const path = `apis[${index}]`
    mustBeObject(api, path, ['baseUrl', 'issuer', 'ratePolicy'])
    const issuer = mustBeText(api['issuer'], `${path}.issuer`, known(issuers))
    const options = issuers.get(issuer)
    if (options === undefined) refuse(`${path}.issuer`, 'no name from `issuers`', known(issuers))
    const baseUrl = environment.url(api['baseUrl'], `${path}.baseUrl`, options.allowInsecureLoopback).href
    const place = baseUrl.replace(/\/+$/, '')
    const other = places.get(place)
    if (other !== undefined)
      refuse(`${path}.baseUrl`, `the same as \`${other}\``, 'one API for each base URL')
    places.set(place, `${path}.baseUrl`)
    const policy = api['ratePolicy']
    const ratePolicy = policy === undefined ? undefined : checkRatePolicy(policy, `${path}.ratePolicy`)
    return { baseUrl, issuer, ratePolicy }
  })
}

function checkObservers(value: unknown): readonly Observer[] {
  const observers: readonly unknown[] = value === undefined ? [] : Array.isArray(value) ? value : [value]
  for (const observer of observers)
    if (typeof observer !== 'function')
      refuse('observe', shape(observer), 'a function or an array of functions')
  return observers as readonly Observer[]
}

function checkFetch(value: unknown): typeof globalThis.fetch | undefined {
  if (value !== undefined && typeof value !== 'function') refuse('fetch', shape(value), 'a fetch function')
  return value as typeof globalThis.fetch | undefined
}

function known(issuers: ReadonlyMap<string, unknown>): string {
  return `one of ${[...issuers.keys()].join(', ')}`
}

function unknownIssuer(name: unknown, issuers: ReadonlyMap<string, unknown>): TokenlaneError {
  const given = typeof name === 'string' ? 'not an issuer of this manager' : shape(name)
  return new TokenlaneError(
    'INVALID_OPTIONS',
    `Cannot get token: \`issuer\` is ${given}; allowed: ${known(issuers)}`,
  )
}

function mustNotBeInBrowser(): void {
  const page = globalThis as { window?: unknown; document?: unknown }
  if (typeof page.window === 'undefined' || typeof page.document === 'undefined') return
  throw new TokenlaneError(
    'CLIENT_SIDE_FORBIDDEN',
    'Cannot create token manager: this is a browser page, and a client secret does not belong in client-side code',
  )
}
