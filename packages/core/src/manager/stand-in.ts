import type { TokenManager } from './token-manager.ts'

/** Returns a manager whose functions, which may be taken off it, are looked up in `current` at each call. */
export function standInFor<Issuer extends string>(current: () => TokenManager<Issuer>): TokenManager<Issuer> {
  return {
    getToken: async (issuer, options) => current().getToken(issuer, options),
    route: (url) => current().route(url),
    status: () => current().status(),
    observe: (observer) => current().observe(observer),
    warmUp: async () => current().warmUp(),
    resume: (baseUrl) => current().resume(baseUrl),
    setRatePolicy: (baseUrl, policy) => current().setRatePolicy(baseUrl, policy),
    close: async () => current().close(),
    [Symbol.asyncDispose]: async () => current().close(),
  }
}
