import type { AccessToken } from '../token/access-token.ts'
import type { Api, ApiStatus } from '../send/api.ts'
import { CallsUnderWay } from '../send/calls-under-way.ts'
import type { CheckedOptions } from './check-options.ts'
import { ApisInUse } from './apis-in-use.ts'
import { checkRatePolicy, type RatePolicy } from '../queue/rate-policy.ts'
import { closedError, reasonOf, TokenlaneError } from '../errors.ts'
import type { Emit } from '../events.ts'
import type { GuardedStore } from '../store/guarded-store.ts'
import { type CheckedApi, issuerNames } from './check-apis.ts'
import { type IssuerStatus, issuerStatus, ManagedIssuer } from './managed-issuer.ts'
import { MissedRoutes } from '../send/missed-routes.ts'
import { ProtectedApi, type ProtectedApiOptions } from '../send/protected-api.ts'
import { refuse, shape } from '../options/check.ts'
import { refusingTo } from '../options/faults.ts'
import { RejectionBackoff } from '../send/rejection-backoff.ts'
import { Router } from '../send/router.ts'
import type { SharedByTenants } from './shared-by-tenants.ts'
import { withoutLastSlash } from '../options/secure-url.ts'

/** A plain snapshot for a health endpoint, with the names of the manager's issuers. Holds no secret. */
export interface ManagerStatus<Issuer extends string = string> {
  readonly issuers: Readonly<Record<Issuer, IssuerStatus>>
  /** In the order of the options. */
  readonly apis: readonly ApiStatus[]
}

/**
 * One registration put together: the tokens of its issuers, and the APIs that they are for. A manager has one, and one
 * for each of its tenants.
 */
export class Registration {
  readonly #callsUnderWay = new CallsUnderWay()
  readonly #issuers: ReadonlyMap<string, ManagedIssuer>
  readonly #apis: ApisInUse
  readonly #router: Router<ProtectedApi>
  readonly #missed: MissedRoutes
  readonly #emit: Emit

  /** @param shared what tenants with the same APIs have in common. */
  constructor(
    { issuers, apis, fetch, limiter }: CheckedOptions,
    store: GuardedStore | undefined,
    emit: Emit,
    { routes, limits }: SharedByTenants,
  ) {
    const managed = new Map<string, ManagedIssuer>()
    const tokenEndpoints: URL[] = []
    const askOptions = { fetch, asking: (url: URL) => this.#router.exclude(url), manager: emit?.manager }
    for (const [name, checked] of issuers) {
      managed.set(name, new ManagedIssuer({ name, checked, askOptions, emit, store }))
      // those that metadata names are known when they are asked
      if (checked.discover === undefined) tokenEndpoints.push(checked.place)
    }
    this.#issuers = managed
    this.#emit = emit
    this.#apis = new ApisInUse(apis, (api, place) =>
      this.#protect({ ...api, place, limiter, shared: limits?.get(api) }),
    )
    // a limiter of the application's is made, and checked, at start
    if (limiter !== undefined) this.#apis.all()
    this.#router = new Router(routes, this.#apis, tokenEndpoints)
    this.#missed = new MissedRoutes(apis, this.#router, emit)
  }

  /** Whether no call is under way, no token is being renewed, and a new registration would send as many calls. */
  get isIdle(): boolean {
    return (
      this.#callsUnderWay.isIdle &&
      Array.from(this.#issuers.values()).every((issuer) => issuer.isIdle) &&
      this.#apis.inUse().every((api) => api.isUnspent)
    )
  }

  /** @throws TokenlaneError `INVALID_OPTIONS` for any other name. */
  issuer(name: string): ManagedIssuer {
    const issuer = this.#issuers.get(name)
    if (issuer === undefined) throw unknownIssuer(name, this.#issuers)
    return issuer
  }

  async getToken(
    name: string,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<AccessToken> {
    const { token } = this.issuer(name)
    signal?.throwIfAborted()
    if (this.#callsUnderWay.closed) throw closedError(`issuer "${name}"`)
    return token.live() ?? token.wait(signal)
  }

  route(url: string | URL): Api | undefined {
    const api = this.#router.match(url)
    if (api === undefined && this.#emit?.isObserved === true) this.#missed.look(url)
    return api
  }

  status(): ManagerStatus {
    return {
      issuers: Object.fromEntries(
        Array.from(this.#issuers, ([name, issuer]) => [name, issuerStatus(issuer)]),
      ),
      apis: this.#apis.all().map((api) => api.status()),
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

  async close(): Promise<void> {
    const underWay = this.#callsUnderWay.close()
    for (const api of this.#apis.inUse()) api.close()
    await underWay
    await Promise.all(this.#apis.inUse().map((api) => api.ended()))
    await Promise.all(Array.from(this.#issuers.values(), (issuer) => issuer.close()))
  }

  /** Puts an API together with the tokens of its issuer. */
  #protect(api: CheckedApi & Pick<ProtectedApiOptions, 'place' | 'limiter' | 'shared'>): ProtectedApi {
    const { token } = this.issuer(api.issuer)
    return new ProtectedApi({
      ...api,
      token,
      rejections: new RejectionBackoff(token),
      callsUnderWay: this.#callsUnderWay,
      emit: this.#emit,
    })
  }

  #apiAt(baseUrl: string | URL): ProtectedApi {
    const place = placeOf(baseUrl)
    const apis = this.#apis.all()
    const api = apis.find((each) => placeOf(each.baseUrl) === place)
    if (api === undefined)
      refuse('baseUrl', 'not an API of this manager', apis.map((each) => each.baseUrl).join(', '))
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

/** What a base URL stands for, with or without a slash at its end. */
export function placeOf(baseUrl: string | URL): string | undefined {
  const url = URL.parse(String(baseUrl))
  return url === null ? undefined : withoutLastSlash(url.href)
}

function unknownIssuer(name: unknown, issuers: ReadonlyMap<string, unknown>): TokenlaneError {
  const given = typeof name === 'string' ? 'not an issuer of this manager' : shape(name)
  return new TokenlaneError(
    'INVALID_OPTIONS',
    `Cannot get token: \`issuer\` is ${given}; allowed: ${issuerNames(issuers.keys())}`,
  )
}
