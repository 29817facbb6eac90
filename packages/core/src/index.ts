// Obtains and renews OAuth 2.0 access tokens, and sends each call with the right one: picks the API by URL, waits for a
// slot, makes sure of a live token, waits for a permit, sends; on a 401 renews and sends again.
export { createTokenManager } from './manager/create-token-manager.ts'
export { tokensFor } from './manager/tokens-for.ts'
export type { IssuerStatus, ManagerStatus, TokenManager } from './manager/token-manager.ts'
export type { CloseOptions, CutOff } from './manager/close-within.ts'
export type { ApiOptions, TokenFetch, TokenManagerOptions } from './manager/manager-options.ts'
export {
  generalIssuer,
  weblinkIssuer,
  type IssuerOptions,
  type IssuerSettings,
} from './issuer/issuer-options.ts'
export { oauthIssuer } from './issuer/oauth-issuer.ts'
export type {
  CertificateCredentials,
  ClientAuthenticationMethod,
  ClientCredentials,
  Credentials,
  CredentialsContext,
  CredentialsProvider,
  CredentialsSource,
  PfxCredentials,
  PrivateKeyCredentials,
} from './credentials/credentials.ts'
export { envCredentials } from './credentials/env-credentials.ts'
export type { AccessToken } from './access-token.ts'
export type { CalendarWindow } from './limits/calendar.ts'
export type { LimitedCall } from './limits/match.ts'
export type { Limit, PolicyResponse, RateLimit, RateLimitHeaders, RatePolicy } from './limits/rate-policy.ts'
export type { CallOptions } from './queue/call-options.ts'
export type { Api, ApiStatus } from './send/api.ts'
export type { CallWaits, Observer, RenewalReason, ResendReason, TokenlaneEvent } from './events.ts'
export { describeEvent, type Logger, logObserver, type LogOptions } from './log-observer.ts'
export {
  isTokenlaneError,
  TokenlaneError,
  type TokenlaneErrorCode,
  type TokenlaneErrorDetails,
} from './errors.ts'
