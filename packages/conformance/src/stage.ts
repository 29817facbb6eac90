import type { ApiOptions, RatePolicy, TokenManager, TokenManagerOptions } from '@tokenlane/core'
import type { Sandbox } from '@tokenlane/sandbox'

import type { ClientErrors } from './driver.ts'
import type { Script, ScriptedApi } from './scripted-api.ts'
import type { TestClient } from './test-client.ts'

type IssuerName = 'general' | 'weblink'

/** How a scenario's manager differs from the usual one, which knows both APIs of the sandbox. */
export interface OpenOptions {
  /** Of the weblink API. */
  readonly ratePolicy?: RatePolicy
  /** Further APIs, by default of the weblink issuer. */
  readonly apis?: readonly (Omit<ApiOptions, 'issuer'> & { readonly issuer?: IssuerName })[]
  readonly observe?: TokenManagerOptions['observe']
  /** How long a call may wait for a token of the weblink issuer, in milliseconds. */
  readonly maxWait?: number
  /** Until then the issuer's responses are on their way. */
  readonly tokensCome?: Promise<void>
  /** What each connection to an issuer fails with. */
  readonly unreachable?: Error
}

/** For a machine that is busy. */
export const patiently = { timeout: 10_000, interval: 5 }

/** One call at a time; nothing else is limited. */
export const oneByOne: RatePolicy = { limits: [], concurrency: 1 }

/** What one scenario plays on. All that it opens is closed, and searched for what was left behind. */
export interface Stage {
  readonly sandbox: Sandbox
  readonly errors: ClientErrors
  /** A manager, and a client that has its tokens. */
  open(options?: OpenOptions): { tokens: TokenManager; client: TestClient }
  /** One more client of a manager. */
  client(tokens: TokenManager): TestClient
  /** A client without tokens. */
  bare(): TestClient
  /** Makes this manager end with the scenario. */
  keep(tokens: TokenManager): TokenManager
  scripted(script?: Script): Promise<ScriptedApi>
  controller(): AbortController
  /** Makes sure that nothing listens to this signal at the end. */
  signal(signal: AbortSignal): AbortSignal
  /** Holds one call of the weblink API in flight until it is released. */
  hold(client: TestClient): Promise<{ release(): Promise<void> }>
  /** Calls that reached the weblink API. */
  calls(): number
  /** Token requests that reached the weblink issuer. */
  tokenRequests(): number
  /** Makes the token that a manager holds a revoked one, and starts the counts. */
  revoke(tokens: TokenManager): Promise<void>
  /** No token and no secret shows in any response and any error until now. */
  mustShowNoSecret(): void
}
