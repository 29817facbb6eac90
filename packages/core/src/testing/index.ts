// What the unit tests of an application need: a manager's interface without an issuer.
export { fakeTokens, type FakeApiOptions, type FakeTokens, type FakeTokensOptions } from './fake-tokens.ts'
export type { CallCounts, Hold } from './fake-api.ts'
export type { TokenFailure } from './fake-issuer.ts'
