import type { AccessToken } from '../token/access-token.ts'
import type { Api } from '../send/api.ts'
import { CallsUnderWay } from '../send/calls-under-way.ts'
import type { CheckedFake } from './fake-options.ts'
import { closedError } from '../errors.ts'
import type { Emit } from '../events.ts'
import { FakeApi } from './fake-api.ts'
import { FakeToken } from './fake-token.ts'
import { checkRatePolicy, type RatePolicy } from '../queue/rate-policy.ts'
import { issuerNames } from '../manager/check-apis.ts'
import { placeOf, type ManagerStatus } from '../manager/registration.ts'
import { MissedRoutes } from '../send/missed-routes.ts'
import { refuse } from '../options/check.ts'
import { Router } from '../send/router.ts'
import { Routes } from '../send/routes.ts'

const none = checkRatePolicy({ limits: [], limitedStatuses: [] }, 'ratePolicy')

/** What a fake manager holds until it is reset: a token for each issuer, and the APIs. */
export class FakeRegistration {
  readonly #callsUnderWay = new CallsUnderWay()
  readonly #tokens: ReadonlyMap<string, FakeToken>
  readonly #apis: readonly FakeApi[]
  readonly #paced: ReadonlySet<FakeApi>
  readonly #router: Router<FakeApi>
  readonly #missed: MissedRoutes
  readonly #emit: Emit

  constructor({ apis, issuers, token }: CheckedFake, emit: Emit) {
    const names = new Set([...apis.map(({ issuer }) => issuer), ...issuers])
    const tokens = Array.from(
      names,
      (name) => [name, new FakeToken(name, token ?? `${name}-token`, emit)] as const,
    )
    this.#tokens = new Map(tokens)
    this.#apis = apis.map(
      (api, place) =>
        new FakeApi({
          ...api,
          place,
          ratePolicy: api.ratePolicy ?? none,
          token: this.tokenOf(api.issuer),
          callsUnderWay: this.#callsUnderWay,
          emit,
        }),
    )
    this.#paced = new Set(this.#apis.filter((_, index) => apis[index]?.ratePolicy !== undefined))
    this.#router = new Router(new Routes(apis), this.#apis)
    this.#missed = new MissedRoutes(this.#apis, this.#router, emit)
    this.#emit = emit
  }

  async getToken(
    name: string,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<AccessToken> {
    const token = this.tokenOf(name)
    signal?.throwIfAborted()
    if (this.#callsUnderWay.closed) throw closedError(`issuer "${name}"`)
    return token.live() ?? token.wait()
  }

  route(url: string | URL): Api | undefined {
    const api = this.#router.match(url)
    if (api === undefined && this.#emit?.isObserved === true) this.#missed.look(url)
    return api
  }

  status(): ManagerStatus {
    return {
      issuers: Object.fromEntries(Array.from(this.#tokens, ([name, token]) => [name, token.status()])),
      apis: this.#apis.map((api) => api.status()),
    }
  }

  async warmUp(): Promise<void> {
    await Promise.all(Array.from(this.#tokens.keys(), (name) => this.getToken(name)))
  }

  setRatePolicy(baseUrl: string | URL, policy: RatePolicy): void {
    const api = this.apiAt(baseUrl)
    if (!this.#paced.has(api)) refuse('ratePolicy', 'not set', 'another policy for an API that has one')
    api.setRatePolicy(checkRatePolicy(policy, 'ratePolicy'))
  }

  async close(): Promise<void> {
    const underWay = this.#callsUnderWay.close()
    for (const api of this.#apis) api.close()
    await underWay
  }

  /** @throws TokenlaneError `INVALID_OPTIONS` for another name. */
  tokenOf(issuer: string): FakeToken {
    return (
      this.#tokens.get(issuer) ??
      refuse('issuer', 'not an issuer of this fake manager', issuerNames(this.#tokens.keys()))
    )
  }

  /** Returns the token of that issuer, or of all issuers without one. */
  tokensOf(issuer: string | undefined): readonly FakeToken[] {
    return issuer === undefined ? [...this.#tokens.values()] : [this.tokenOf(issuer)]
  }

  /** @throws TokenlaneError `INVALID_OPTIONS` for another URL. */
  apiAt(baseUrl: string | URL): FakeApi {
    const place = placeOf(baseUrl)
    const allowed = this.#apis.map((each) => each.baseUrl).join(', ')
    return (
      this.#apis.find((each) => placeOf(each.baseUrl) === place) ??
      refuse('baseUrl', 'not an API of this fake manager', allowed)
    )
  }

  /** Returns the API of that base URL, or all APIs without one. */
  apisAt(baseUrl: string | URL | undefined): readonly FakeApi[] {
    return baseUrl === undefined ? this.#apis : [this.apiAt(baseUrl)]
  }
}
