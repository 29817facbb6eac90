export {
  createTokenManager,
  type IssuerStatus,
  type ManagerStatus,
  type TokenManager,
} from './token-manager.ts'
export type { ApiOptions, TokenManagerOptions } from './manager-options.ts'
export {
  generalIssuer,
  weblinkIssuer,
  type AuthUrl,
  type IssuerOptions,
  type IssuerSettings,
} from './issuer.ts'
export type { PerEnvironment } from './environment.ts'
export type {
  Credentials,
  CredentialsContext,
  CredentialsProvider,
  CredentialsSource,
} from './credentials.ts'
export { envCredentials } from './env-credentials.ts'
export type { AccessToken } from './access-token.ts'
export type { Accounting, RateLimit, RatePolicy } from './rate-policy.ts'
export type { CallOptions } from './call-options.ts'
export type { Api, ApiStatus } from './api.ts'
export type { Observer, RenewalReason, StoreFailure, TokenlaneEvent } from './events.ts'
export {
  isTokenlaneError,
  TokenlaneError,
  type TokenlaneErrorCode,
  type TokenlaneErrorDetails,
} from './errors.ts'

// For fleets: what a shared store and a shared limiter are made of
export type { StoreClaim, TokenStore } from './token-store.ts'
export type { LimitedApi, RateLimiterFactory } from './shared-limiter.ts'
export { createRateLimiter, type Permit, type RateLimiter, type RateLimiterOptions } from './rate-limiter.ts'

// For adapters: what every client needs and none has
export type { AdmitOptions, Exchange, Pass, Report, SendOptions } from './api.ts'
export { checkCallOptions } from './call-options.ts'
export { discardBody } from './discard-body.ts'
export { ResponseExchange } from './response-exchange.ts'
export { isRedirect, type Hop } from './follow-redirects.ts'
export { followWithinApi, type RedirectedCall } from './follow-within-api.ts'
export { isReplayable } from './request-body.ts'
export { agentFloor, secureAgents } from './tls-agent.ts'
export { secureDispatchers, withDispatcher, type FetchCall } from './tls-dispatcher.ts'
export { tlsFloor, type RefuseTls } from './tls-floor.ts'
