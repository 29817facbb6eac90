import { apiAt, issuerNamed, register, standInFor, type TokenManager } from '../manager/token-manager.ts'
import { CallsUnderWay } from '../send/calls-under-way.ts'
import { type CallCounts, FakeApi, type Hold } from './fake-api.ts'
import { fakeIssuer, readFailure, type TokenFailure } from './fake-issuer.ts'
import { type CheckedApi, readingCalls } from '../manager/check-apis.ts'
import type { ApiOptions } from '../manager/manager-options.ts'
import { mustBeRecentRuntime } from '../manager/supported-runtime.ts'
import { type Observers, observersOf } from '../manager/observers.ts'
import { own, refusingTo } from '../options/check.ts'
import { mustBeSecureUrl, type PerEnvironment, readEnvironment, urlsOf } from '../options/urls.ts'
import { list, object, optional, type ReadAs, type Reader, text } from '../options/reader.ts'
import { checkRatePolicy, type RatePolicy } from '../limits/rate-policy.ts'

/** An API of a fake manager. */
export interface FakeApiOptions<Issuer extends string = string> extends Pick<
  ApiOptions,
  'resend' | 'refusedStatuses' | 'scheme'
> {
  /**
   * Origin and path prefix, one for all environments or one for each; `http:` is allowed, because the token is
   * worthless.
   */
  readonly baseUrl: PerEnvironment
  /**
   * The issuer whose tokens it accepts.
   *
   * @defaultValue 'test'
   */
  readonly issuer?: Issuer | undefined
  /**
   * As for `createTokenManager`. `concurrency`, `maxQueued`, `maxWait` and `limitedStatuses` apply; no call waits for
   * `limits`, `spread` or the end of a pause.
   */
  readonly ratePolicy?: RatePolicy | undefined
}

/** Configures `fakeTokens`. */
export interface FakeTokensOptions<Issuer extends string = string> {
  /** The APIs that get tokens: base URLs, or the `apis` of `createTokenManager`. */
  readonly apis: readonly (string | FakeApiOptions<Issuer>)[]
  /** The environment the test is in, if a `baseUrl` is given per environment. */
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

/** A token manager for unit tests, with methods to control it and to check what calls did. */
export interface FakeTokens<Issuer extends string = string> extends TokenManager<Issuer> {
  /**
   * Returns counts of what calls did since the start, or since `reset`.
   *
   * @param baseUrl The `baseUrl` of one of the `apis`; if omitted, the sum of all.
   * @throws TokenlaneError `INVALID_OPTIONS` for any other URL.
   */
  counts(baseUrl?: string | URL): CallCounts
  /**
   * Treats the response to the next attempt as a 401 that refuses the token, whatever it is. The token is replaced and
   * the call is sent once more, if its body can be sent again. Call it twice for two attempts.
   *
   * @param baseUrl The `baseUrl` of one of the `apis`; if omitted, the next attempt to each of them.
   * @throws TokenlaneError `INVALID_OPTIONS` for any other URL.
   */
  refuseOnce(baseUrl?: string | URL): void
  /**
   * Makes the next call that needs a token fail: it rejects with a `TokenlaneError`, and nothing is sent.
   *
   * @param code The error's `code`. The default is `TOKEN_REQUEST_REFUSED`.
   * @param issuer The issuer that returns no token; if omitted, each of them.
   * @throws TokenlaneError `INVALID_OPTIONS` for any other code or issuer.
   */
  failOnce(code?: TokenFailure, issuer?: Issuer): void
  /**
   * Holds calls in their queue from now on, until the returned hold is released.
   *
   * @param baseUrl The `baseUrl` of one of the `apis`; if omitted, all of them.
   * @throws TokenlaneError `INVALID_OPTIONS` for any other URL.
   */
  hold(baseUrl?: string | URL): Hold
  /** Resets everything: releases held calls, forgets counts and one-time faults, and reopens what was closed. */
  reset(): void
}

/**
 * Returns a token manager for unit tests: no issuer, no TLS, no waiting. It works with every adapter.
 *
 * Calls go through the real send rule and the real queue, so that they are sent again after a 401 and refused when the
 * queue is full. There is always a token, and calls wait only while they are held. It holds no secrets, so test
 * environments that emulate a browser may create it.
 *
 * @throws TokenlaneError `INVALID_OPTIONS`, naming every invalid option and what is allowed.
 * @example
 * ```ts
 * const tokens = fakeTokens({ apis: ['https://api.example.com/'], token: 'abc' })
 * const fetch = createFetch(tokens, { fetch: async () => new Response('hello') })
 * ```
 */
export function fakeTokens<const Issuer extends string = string>(
  options: FakeTokensOptions<Issuer>,
): FakeTokens<Issuer> {
  const checked = refusingTo('create fake tokens', () => {
    mustBeRecentRuntime()
    return readFake(options, 'options')
  })
  const tokens = standInFor<Issuer>(() => now.functions)
  const observers = observersOf([], tokens)
  let now = behind(checked, observers)
  const apisAt = (action: string, baseUrl: string | URL | undefined): readonly FakeApi[] =>
    baseUrl === undefined ? now.apis : [refusingTo(action, () => apiAt(now.apis, baseUrl))]

  const controls: Omit<FakeTokens, keyof TokenManager> = {
    counts: (baseUrl) => sumOf(apisAt('count calls', baseUrl)),
    refuseOnce(baseUrl) {
      for (const api of apisAt('refuse token', baseUrl)) api.refuseOnce()
    },
    failOnce(given = 'TOKEN_REQUEST_REFUSED', issuer) {
      const code = refusingTo('fail', () => readFailure(given, 'code'))
      const failing =
        issuer === undefined
          ? now.issuers.values()
          : [refusingTo('fail', () => issuerNamed(now.issuers, issuer))]
      for (const one of failing) one.failOnce(code)
    },
    hold(baseUrl) {
      const apis = apisAt('hold calls', baseUrl)
      const release = (): void => {
        for (const api of apis) api.release(hold)
      }
      const hold: Hold = {
        queued: (calls) =>
          new Promise((resolve) => {
            const look = (): void => {
              if (sumOf(apis).queued < calls) return
              forget()
              resolve()
            }
            const forget = observers.add(look)
            look()
          }),
        release,
        [Symbol.dispose]: release,
      }
      for (const api of apis) api.hold(hold)
      return hold
    },
    reset() {
      for (const api of now.apis) api.release()
      now = behind(checked, observers)
    },
  }
  return Object.assign(tokens, controls)
}

type CheckedFake = ReadAs<
  FakeTokensOptions,
  { apis: readonly CheckedApi[]; environment: string | undefined; token: string | undefined }
>

const readFake: Reader<CheckedFake> = (options, optionsPath) => {
  const readUrl = urlsOf(own(options, 'environment'), readBaseUrl)
  const readName = text('the name of an issuer')
  const readApi: Reader<CheckedApi> = (given, path) => {
    const api = typeof given === 'string' ? { baseUrl: given } : given
    return object<CheckedApi>({
      baseUrl: (url, urlPath) => readUrl(url, urlPath, () => true).href,
      issuer: optional(readName, 'test'),
      ratePolicy: optional(checkRatePolicy),
      ...readingCalls(api),
    })(api, path)
  }
  return object<CheckedFake>({
    environment: readEnvironment,
    apis: list(
      readApi,
      'an array of base URLs, or of { baseUrl, issuer, ratePolicy, resend, refusedStatuses, scheme }',
    ),
    issuers: optional(list(readName, 'an array of names'), []),
    token: optional(text('a non-empty string')),
  })(options, optionsPath)
}

function readBaseUrl(value: unknown, path: string): URL {
  const secure = typeof value === 'string' ? value.replace(/^http:/i, 'https:') : value
  mustBeSecureUrl(secure, path, () => false)
  return new URL(value as string)
}

/** Puts the real parts of a manager together, with made-up tokens and without limits. */
function behind({ apis, issuers, token: value }: CheckedFake, observers: Observers) {
  const { emit } = observers
  const names = new Set([...apis.map(({ issuer }) => issuer), ...issuers])
  const fakeIssuers = new Map(
    Array.from(names, (name) => [name, fakeIssuer(name, value ?? `${name}-token`, emit)]),
  )
  const callsUnderWay = new CallsUnderWay()
  const fakeApis = apis.map((api, index) => {
    const { token } = issuerNamed(fakeIssuers, api.issuer)
    return new FakeApi({ ...api, option: `apis[${index}].issuer`, token, callsUnderWay, emit })
  })
  const { functions } = register({ issuers: fakeIssuers, apis: fakeApis, callsUnderWay, observers })
  return { functions, issuers: fakeIssuers, apis: fakeApis }
}

function sumOf(apis: readonly FakeApi[]): CallCounts {
  const sum = (of: keyof CallCounts): number => apis.reduce((total, api) => total + api.counts()[of], 0)
  return { calls: sum('calls'), sends: sum('sends'), queued: sum('queued') }
}
