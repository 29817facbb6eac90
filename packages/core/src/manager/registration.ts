import type { AccessToken } from '../token/access-token.ts'
import type { Api, ApiStatus } from '../send/api.ts'
import { askIssuer } from '../issuer/ask-issuer.ts'
import { CallsUnderWay } from '../send/calls-under-way.ts'
import type { CheckedIssuer } from '../issuer/check-issuer.ts'
import type { CheckedOptions } from '../manager-options.ts'
import { checkRatePolicy, type RatePolicy } from '../queue/rate-policy.ts'
import {
  closedError,
  isTokenlaneError,
  reasonOf,
  TokenlaneError,
  type TokenlaneErrorCode,
} from '../errors.ts'
import { CredentialRotation } from '../credentials/credential-rotation.ts'
import type { Emit } from '../events.ts'
import type { GuardedStore } from '../store/guarded-store.ts'
import { issuerNames } from '../manager-options.ts'
import { MissedRoutes } from '../send/missed-routes.ts'
import { ProtectedApi } from '../send/protected-api.ts'
import { refuse, shape } from '../options/check.ts'
import { RejectionBackoff } from '../send/rejection-backoff.ts'
import { RenewingToken } from '../token/renewing-token.ts'
import { Router } from '../send/router.ts'
import { shareWithFleet } from '../store/share-with-fleet.ts'
import { type AskOptions, tokenEndpoint } from '../issuer/token-endpoint.ts'
import { type ClientOutcome, tryClients } from '../issuer/try-clients.ts'
import { withCredentials } from '../issuer/with-credentials.ts'

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
 * One registration put together: the tokens of its issuers, and the APIs that they are for. A manager has one, and one
 * for each of its tenants.
 */
export class Registration {
  readonly #callsUnderWay = new CallsUnderWay()
  readonly #issuers: ReadonlyMap<string, ManagedIssuer>
  readonly #apis: readonly ProtectedApi[]
  readonly #router: Router<ProtectedApi>
  readonly #missed: MissedRoutes
  readonly #emit: Emit

  constructor(
    { issuers, apis, fetch, limiter }: CheckedOptions,
    store: GuardedStore | undefined,
    emit: Emit,
  ) {
    const managed = new Map<string, ManagedIssuer>()
    const askOptions = { fetch, asking: (url: URL) => this.#router.exclude(url), manager: emit?.manager }
    for (const [name, issuer] of issuers) managed.set(name, manage(name, issuer, askOptions, emit, store))
    this.#issuers = managed
    this.#apis = apis.map((api) => {
      const { token } = managed.get(api.issuer) as ManagedIssuer
      const rejections = new RejectionBackoff(token)
      return new ProtectedApi({
        ...api,
        token,
        rejections,
        callsUnderWay: this.#callsUnderWay,
        emit,
        limiter,
      })
    })
    // those that metadata names are known when they are asked
    const known = Array.from(issuers.values()).filter(({ discover }) => discover === undefined)
    this.#router = new Router(
      this.#apis,
      known.map(({ place }) => place),
    )
    this.#missed = new MissedRoutes(this.#apis, this.#router, emit)
    this.#emit = emit
  }

  /** Whether no call is under way and no token is being renewed. */
  get isIdle(): boolean {
    return this.#callsUnderWay.isIdle && Array.from(this.#issuers.values()).every(({ token }) => token.isIdle)
  }

  async getToken(
    name: string,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<AccessToken> {
    const issuer = this.#issuers.get(name)
    if (issuer === undefined) throw unknownIssuer(name, this.#issuers)
    signal?.throwIfAborted()
    if (this.#callsUnderWay.closed) throw closedError(`issuer "${name}"`)
    return issuer.token.live() ?? issuer.token.wait(signal)
  }

  route(url: string | URL): Api | undefined {
    const api = this.#router.match(url)
    if (api === undefined && this.#emit?.isObserved === true) this.#missed.look(url)
    return api
  }

  status(): ManagerStatus {
    return {
      issuers: Object.fromEntries(Array.from(this.#issuers, ([name, issuer]) => [name, statusOf(issuer)])),
      apis: this.#apis.map((api) => api.status()),
    }
  }

  async warmUp(): Promise<void> {
    const outcomes = await Promise.allSettled(Array.from(this.#issuers.keys(), (name) => this.getToken(name)))
    const failed = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason as TokenlaneError] : [],
    )
    if (failed.length > 0) throw oneOf(failed)
  }

  resume(baseUrl: string | URL): void {
    refusingTo('resume', () => this.#apiAt(baseUrl).resume())
  }

  setRatePolicy(baseUrl: string | URL, policy: RatePolicy): void {
    refusingTo('set rate policy', () =>
      this.#apiAt(baseUrl).setRatePolicy(checkRatePolicy(policy, 'ratePolicy')),
    )
  }

  /** As `Inspection.tryClients`. */
  async tryClients(name: string): Promise<readonly ClientOutcome[]> {
    const issuer = this.#issuers.get(name)
    if (issuer === undefined) throw unknownIssuer(name, this.#issuers)
    return issuer.tryClients()
  }

  async close(): Promise<void> {
    const underWay = this.#callsUnderWay.close()
    for (const api of this.#apis) api.close()
    await underWay
    await Promise.all(this.#apis.map((api) => api.ended()))
    await Promise.all(Array.from(this.#issuers.values(), ({ token }) => token.close()))
  }

  #apiAt(baseUrl: string | URL): ProtectedApi {
    const place = placeOf(baseUrl)
    const api = this.#apis.find((each) => placeOf(each.baseUrl) === place)
    if (api === undefined)
      refuse('baseUrl', 'not an API of this manager', this.#apis.map((each) => each.baseUrl).join(', '))
    return api
  }
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
  tryClients(): Promise<readonly ClientOutcome[]>
}

function manage(
  name: string,
  issuer: CheckedIssuer,
  askOptions: AskOptions,
  emit: Emit,
  store: GuardedStore | undefined,
): ManagedIssuer {
  const credentials = new CredentialRotation({ ...issuer.credentials, issuer: name, emit })
  const endpoint = tokenEndpoint(name, issuer, askOptions)
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
  return { token, credentials, tryClients: () => tryClients(credentials, issuing, requestTimeout) }
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
export function refusingTo<T>(action: string, act: () => T): T {
  try {
    return act()
  } catch (error) {
    if (!isTokenlaneError(error) || error.code !== 'INVALID_OPTIONS') throw error
    const reason = reasonOf(error).replace(/^Cannot create token manager/, `Cannot ${action}`)
    throw new TokenlaneError('INVALID_OPTIONS', reason, { errors: error.errors })
  }
}

/** What a base URL stands for, with or without a slash at its end. */
export function placeOf(baseUrl: string | URL): string | undefined {
  return URL.parse(String(baseUrl))?.href.replace(/\/+$/, '')
}

function unknownIssuer(name: unknown, issuers: ReadonlyMap<string, unknown>): TokenlaneError {
  const given = typeof name === 'string' ? 'not an issuer of this manager' : shape(name)
  return new TokenlaneError(
    'INVALID_OPTIONS',
    `Cannot get token: \`issuer\` is ${given}; allowed: ${issuerNames(issuers.keys())}`,
  )
}
