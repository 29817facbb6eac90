export {
  createTokenManager,
  type IssuerStatus,
  type ManagerStatus,
  type TokenManager,
} from './token-manager.ts'
export type { ApiOptions, TokenFetch, TokenManagerOptions } from './manager/manager-options.ts'
export {
  generalIssuer,
  weblinkIssuer,
  type AuthUrl,
  type IssuerOptions,
  type IssuerSettings,
} from './issuer/issuer-options.ts'
export { oauthIssuer } from './issuer/oauth-issuer.ts'
export type { PerEnvironment } from './options/environment.ts'
export type {
  CertificateCredentials,
  ClientAuthenticationMethod,
  ClientCredentials,
  Credentials,
  CredentialsContext,
  CredentialsProvider,
  CredentialsSource,
  PrivateKeyCredentials,
  SigningAlgorithm,
} from './credentials/credentials.ts'
export { envCredentials } from './credentials/env-credentials.ts'
export type { AccessToken } from './token/access-token.ts'
export type { Accounting, RateLimit, RatePolicy } from './queue/rate-policy.ts'
export type { CallOptions } from './queue/call-options.ts'
export type { Api, ApiStatus } from './send/api.ts'
export type {
  CallWaits,
  Observer,
  RenewalReason,
  ResendReason,
  StoreFailure,
  TokenlaneEvent,
} from './events.ts'
export { describeEvent, logObserver, type Logger } from './log-observer.ts'
export {
  isTokenlaneError,
  TokenlaneError,
  type TokenlaneErrorCode,
  type TokenlaneErrorDetails,
} from './errors.ts'
export type { SharedStore } from './store/token-store.ts'
export type { RateLimiterFactory } from './queue/limiter-factory.ts'
