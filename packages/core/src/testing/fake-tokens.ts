import { type CallCounts, sumOf } from './call-counts.ts'
import { FakeRegistration } from './fake-registration.ts'
import { type Hold, QueueHold } from './hold.ts'
import { type CheckedFake, readFake } from './fake-options.ts'
import type { Observer } from '../events.ts'
import { Observers } from '../manager/observers.ts'
import type { PerEnvironment } from '../options/environment.ts'
import type { RatePolicy } from '../queue/rate-policy.ts'
import { refusingTo } from '../options/faults.ts'
import type { TokenFailure } from './fake-token.ts'
import type { TokenManager } from '../token-manager.ts'

/** An API of a fake manager. */
export interface FakeApiOptions<Issuer extends string = string> {
  /**
   * Origin and path prefix, one for all environments or one for each; `http:` is allowed, since the token is worth
   * nothing.
   */
  readonly baseUrl: PerEnvironment
  /**
   * The issuer whose tokens it takes.
   *
   * @defaultValue 'test'
   */
  readonly issuer?: Issuer | undefined
  /**
   * As for `createTokenManager`. `concurrency`, `maxQueued`, `maxWait` and `limitedStatuses` hold; no call waits for
   * `limits`, `spread` or the end of a pause.
   */
  readonly ratePolicy?: RatePolicy | undefined
  /**
   * Which calls may be sent again, as for `createTokenManager`.
   *
   * @defaultValue true
   */
  readonly resend?: boolean | readonly string[] | undefined
}

/** Configures `fakeTokens`. */
export interface FakeTokensOptions<Issuer extends string = string> {
  /** The APIs that get tokens: base URLs, or the `apis` of `createTokenManager`. */
  readonly apis: readonly (string | FakeApiOptions<Issuer>)[]
  /** Which environment the test is in, where a `baseUrl` is given by environment. */
  readonly environment?: string | undefined
  /**
   * Issuers that no API names, for `getToken`.
   *
   * @defaultValue none
   */
  readonly issuers?: readonly Issuer[] | undefined
  /**
   * The token's text, the same for every issuer. After each 401 a number is appended: `-2`, `-3`.
   *
   * @defaultValue the issuer's name and `-token`, such as `general-token`
   */
  readonly token?: string | undefined
}

/** A token manager for unit tests, with what a test wants to steer and to know. */
export interface FakeTokens<Issuer extends string = string> extends TokenManager<Issuer> {
  /**
   * Returns what calls have done since the start, or since `reset`.
   *
   * @param baseUrl The `baseUrl` of one of the `apis`; without it the sum of all.
   * @throws TokenlaneError `INVALID_OPTIONS` for any other URL.
   */
  counts(baseUrl?: string | URL): CallCounts
  /**
   * Takes the response to the next attempt for a 401 that refuses the token, whatever the response is. The token is
   * replaced and the call is sent once more, if its body can be sent again. Asked for twice, it holds for two attempts.
   *
   * @param baseUrl The `baseUrl` of one of the `apis`; without it the next attempt to each of them.
   * @throws TokenlaneError `INVALID_OPTIONS` for any other URL.
   */
  refuseOnce(baseUrl?: string | URL): void
  /**
   * Lets the next call that needs a token fail: it rejects with a `TokenlaneError`, and nothing is sent.
   *
   * @param code The error's `code`. The default is `TOKEN_REQUEST_REFUSED`.
   * @param issuer The issuer that gives no token; without it each of them.
   */
  failOnce(code?: TokenFailure, issuer?: Issuer): void
  /**
   * Holds calls in their queue from now on, until what comes back is released.
   *
   * @param baseUrl The `baseUrl` of one of the `apis`; without it all of them.
   * @throws TokenlaneError `INVALID_OPTIONS` for any other URL.
   */
  hold(baseUrl?: string | URL): Hold
  /** Begins anew: releases what is held, forgets counts and what was asked for once, opens what was closed. */
  reset(): void
  forTenant(id: string): FakeTokens<Issuer>
}

/**
 * Returns a token manager for unit tests: no issuer, no TLS, no waiting. Every adapter takes it.
 *
 * Calls go through the real send rule and the real queue, so that they are sent again after a 401 and refused when the
 * queue is full. There is always a token, and no call waits but while it is held. It holds no secret: test environments
 * that imitate a browser may create it.
 *
 * @throws TokenlaneError `INVALID_OPTIONS`, naming every option that is wrong and what is allowed.
 * @example
 * ```ts
 * const tokens = fakeTokens({ apis: ['https://api.example.com/'], token: 'abc' })
 * const fetch = createFetch(tokens, { fetch: async () => new Response('hello') })
 * ```
 */
export function fakeTokens<const Issuer extends string = string>(
  options: FakeTokensOptions<Issuer>,
): FakeTokens<Issuer> {
  return fakeOf(refusingTo('create fake tokens', () => readFake(options, 'options')))
}

/** A tenant of a fake manager, whose observers hear of it too. */
interface FakeTenant {
  readonly id: string
  readonly observers: Observers
}

function fakeOf<Issuer extends string>(options: CheckedFake, ofTenant?: FakeTenant): FakeTokens<Issuer> {
  const tokens = {} as FakeTokens<Issuer>
  const observers = ofTenant?.observers ?? new Observers([], tokens)
  const emit = ofTenant === undefined ? observers.emit : observers.emitFor(ofTenant.id)
  const observe = (observer: Observer): (() => void) =>
    ofTenant === undefined ? observers.add(observer) : observers.addFor(ofTenant.id, observer)
  const tenants = new Map<string, FakeTokens<Issuer>>()
  const holds = new Set<Hold>()
  let registration = new FakeRegistration(options, emit)

  const own: Omit<FakeTokens, typeof Symbol.asyncDispose> = {
    getToken: async (issuer, asked) =>
      refusingTo('get token', () => registration.tokenOf(issuer)) && registration.getToken(issuer, asked),
    route: (url) => registration.route(url),
    status: () => registration.status(),
    observe,
    warmUp: () => registration.warmUp(),
    resume: (baseUrl) => void refusingTo('resume', () => registration.apiAt(baseUrl)),
    setRatePolicy: (baseUrl, policy) =>
      refusingTo('set rate policy', () => registration.setRatePolicy(baseUrl, policy)),
    forTenant(id) {
      const tenant =
        tenants.get(id) ?? fakeOf<Issuer>({ ...options, token: tokenOf(id, options) }, { id, observers })
      tenants.set(id, tenant)
      return tenant
    },
    async close() {
      await Promise.all([registration.close(), ...Array.from(tenants.values(), (tenant) => tenant.close())])
    },
    counts: (baseUrl) =>
      refusingTo('count calls', () => sumOf(registration.apisAt(baseUrl).map((api) => api.counts()))),
    refuseOnce(baseUrl) {
      for (const api of refusingTo('refuse token', () => registration.apisAt(baseUrl))) api.refuseOnce()
    },
    failOnce(code = 'TOKEN_REQUEST_REFUSED', issuer) {
      for (const token of refusingTo('fail', () => registration.tokensOf(issuer))) token.failOnce(code)
    },
    hold(baseUrl) {
      const apis = refusingTo('hold calls', () => registration.apisAt(baseUrl))
      const ends = apis.map((api) => api.hold())
      const forget = observe(({ type }) => {
        if (type === 'call.queued') hold.look()
      })
      const hold = new QueueHold(
        () => sumOf(apis.map((api) => api.counts())).queued,
        () => {
          holds.delete(hold)
          forget()
          for (const end of ends) end()
        },
      )
      holds.add(hold)
      return hold
    },
    reset() {
      for (const hold of holds) hold.release()
      for (const tenant of tenants.values()) tenant.reset()
      registration = new FakeRegistration(options, emit)
    },
  }
  return Object.assign(tokens, own, { [Symbol.asyncDispose]: own.close })
}

function tokenOf(tenant: string, { token }: CheckedFake): string {
  return `${token ?? 'test-token'}-of-${encodeURIComponent(tenant)}`
}
