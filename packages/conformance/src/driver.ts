import type { Readable } from 'node:stream'

import { isTokenlaneError, type TokenlaneError, type TokenManager } from '@tokenlane/core'

/** Everything the scenarios need to know about a client and its adapter. */
export interface Driver<Client> {
  /** The client's name in the conformance table. */
  readonly name: string
  /**
   * Returns a new client without tokens, created the way its users would. It sends a call once unless the call says
   * otherwise.
   */
  create(): Client
  /** Attaches the manager's tokens to a client. Called again with the returned client, it attaches twice. */
  attach(client: Client, tokens: TokenManager): Attached<Client>
  /** Sends one call, and rejects with exactly what the client rejects with. */
  send(client: Client, request: ScenarioRequest): Promise<ScenarioResponse>
  readonly errors: ClientErrors
  /** What the client cannot do. A scenario that needs it checks what happens instead. */
  readonly limits?: Partial<Record<Feature, Limit>> | undefined
}

/** A client with its tokens attached. */
export interface Attached<Client> {
  /** The same client, or a new one if attaching creates an extended client. */
  readonly client: Client
  /** Detaches the tokens; missing with the limit `detach`. */
  readonly detach?: (() => void) | undefined
}

/** One call, described independently of any client. */
export interface ScenarioRequest {
  /** Absolute, with its query. */
  readonly url: string
  /** Default `GET`. */
  readonly method?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: RequestBody | undefined
  readonly signal?: AbortSignal | undefined
  /** The client's own timeout for one attempt, in milliseconds. Default: none. */
  readonly timeout?: number | undefined
  /** How many times the client itself retries after a 503, without waiting. Default: 0. */
  readonly retries?: number | undefined
  /** Whether the response body will be read from `ScenarioResponse.stream`. Default: `false`. */
  readonly stream?: boolean | undefined
  /** Tokenlane's options for this call, passed on unchanged. */
  readonly tokenlane?: { readonly priority?: number } | undefined
  /**
   * Called before each send with everything that the caller passes to the client (options, headers, a request object),
   * and everything that the client passes to its own request hooks or interceptors. It is searched for tokens.
   */
  readonly show?: ((given: unknown) => void) | undefined
}

/** A body, and its name. JSON is serialized by the client; everything else is passed as it is. */
export type RequestBody =
  | { readonly kind: 'JSON'; readonly value: object }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'URLSearchParams'; readonly value: URLSearchParams }
  | { readonly kind: 'Buffer'; readonly value: Buffer<ArrayBuffer> }
  | { readonly kind: 'Uint8Array'; readonly value: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'ArrayBuffer'; readonly value: ArrayBuffer }
  | { readonly kind: 'Blob'; readonly value: Blob }
  | { readonly kind: 'FormData'; readonly value: FormData }
  | { readonly kind: 'Node stream'; readonly value: Readable }
  | { readonly kind: 'web stream'; readonly value: ReadableStream<Uint8Array<ArrayBuffer>> }
  | { readonly kind: 'async generator'; readonly value: AsyncGenerator<Uint8Array<ArrayBuffer>> }

export type BodyKind = RequestBody['kind']

/** The response to a call, described independently of any client. */
export interface ScenarioResponse {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Headers
  /** The whole body; empty if `stream` was requested. */
  readonly text: string
  /** The body, if `stream` was requested. Leaving a loop over it early releases the connection. */
  readonly stream?: AsyncIterable<Uint8Array> | undefined
  /** What the client returned to its caller. It is searched for tokens. */
  readonly native: unknown
}

/** Tells the client's own errors apart. */
export interface ClientErrors {
  /** Returns whether the caller's signal ended the call. */
  isAbort(error: unknown): boolean
  /** Returns whether the client's own timeout ended the call; with the limit `timeout`, whether `AbortSignal.timeout()` did. */
  isTimeout(error: unknown): boolean
  /** Returns whether the connection failed or broke. */
  isNetwork(error: unknown): boolean
  /** Returns the response's status, if the client turned it into this error. */
  statusOf(error: unknown): number | undefined
  /** Names of what every error of the client has, besides what every `Error` has. Default: none. */
  readonly members?: readonly string[] | undefined
}

/** What some clients cannot do. */
export type Feature =
  /** Its own timeout for one attempt. */
  | 'timeout'
  /** Its own timeout for the wait for a token. */
  | 'tokenTimeout'
  /** Its own retries. */
  | 'retries'
  /** Errors for responses with status 400 and above. */
  | 'httpErrors'
  /** Detaching the tokens. */
  | 'detach'
  /** Resending a call with a streamed response after a 401. */
  | 'streamRetry'
  /** Telling the status of a response before its body is read. */
  | 'statusFirst'
  /** Rejecting with the same error whether a call is aborted before or after it is sent. */
  | 'oneAbort'
  /** Following redirects. */
  | 'redirects'
  /** Letting Tokenlane wait before each redirect. */
  | 'redirectUnits'
  /** Carrying Tokenlane's options for one call. */
  | 'callOptions'
  /** Responses that do not reference the request that was sent. */
  | 'cleanResponses'
  /** Responses of clients without tokens that Tokenlane hears of. */
  | 'heardResponses'
  | `body: ${BodyKind}`

/** What a client cannot do, in one sentence each for the conformance table. */
export interface Limit {
  /** Why it cannot, for example "got takes no Blob as a body." */
  readonly reason: string
  /** What happens instead. */
  readonly instead: string
}

/** Returns the error of ours that a call rejected with, or that its client has wrapped as the cause. */
export function refusalIn(error: unknown): TokenlaneError | undefined {
  for (let inner = error; inner instanceof Error; inner = inner.cause)
    if (isTokenlaneError(inner)) return inner
  return undefined
}

/** What tells one error of a client from another. */
export function errorKind(error: unknown): { constructor: unknown; name: unknown; code: unknown } {
  const { constructor, name, code } = error as Error & { code?: unknown }
  return { constructor, name, code }
}
