import type { Readable } from 'node:stream'

import type { TokenManager } from '@tokenlane/core'

/** All that the scenarios need to know of a client and its adapter. */
export interface Driver<Client> {
  /** The client, as the conformance table calls it. */
  readonly name: string
  /** A new client without tokens, as its own users make it. Sends a call once unless the call says otherwise. */
  create(): Client
  /** Gives a client the manager's tokens. Called again with the client that came out of it: attached twice. */
  attach(client: Client, tokens: TokenManager): Attached<Client>
  /** Sends one call and rejects with what the client rejects with, untouched. */
  send(client: Client, request: ScenarioRequest): Promise<ScenarioResponse>
  readonly errors: ClientErrors
  /** What the client cannot do. A scenario that needs it proves what happens instead. */
  readonly limits?: Partial<Record<Feature, Limit>> | undefined
}

/** A client that has its tokens. */
export interface Attached<Client> {
  /** The same client, or a new one where the client is extended. */
  readonly client: Client
  /** Takes the tokens off again; missing with the limit `detach`. */
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
  /** The client's own timeout of one attempt, in milliseconds. Default: none. */
  readonly timeout?: number | undefined
  /** How often the client itself sends again after a 503, without waiting for it. Default 0. */
  readonly retries?: number | undefined
  /** Whether the response's body is to be read from `ScenarioResponse.stream`. Default `false`. */
  readonly stream?: boolean | undefined
  /** Tokenlane's options of this call, passed on as they are. */
  readonly tokenlane?: { readonly priority?: number } | undefined
  /**
   * Takes, before each send, everything that the caller hands to the client (options, headers, a request object), and
   * everything that the client hands to its own request hooks or interceptors: searched for tokens.
   */
  readonly show?: ((given: unknown) => void) | undefined
}

/** A body, and what to call it. JSON is the client's to serialize; all else is given as it is. */
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
  /** The whole body; empty where `stream` was asked for. */
  readonly text: string
  /** The body, where `stream` was asked for. Leaving its loop early lets go of the connection. */
  readonly stream?: AsyncIterable<Uint8Array> | undefined
  /** What the client gave its caller: searched for tokens. */
  readonly native: unknown
}

/** Tells the client's own errors apart. */
export interface ClientErrors {
  /** The caller's signal ended the call. */
  isAbort(error: unknown): boolean
  /** The client's own timeout did, or `AbortSignal.timeout()` with the limit `timeout`. */
  isTimeout(error: unknown): boolean
  /** No connection, or one that broke. */
  isNetwork(error: unknown): boolean
  /** The status, if the client made an error of it. */
  statusOf(error: unknown): number | undefined
}

/** What some client cannot do. */
export type Feature =
  /** A timeout of its own for one attempt. */
  | 'timeout'
  /** Retries of its own. */
  | 'retries'
  /** Errors for responses of status 400 and up. */
  | 'httpErrors'
  /** To take the tokens off again. */
  | 'detach'
  /** To send a call again, after a 401, whose response is a stream. */
  | 'streamRetry'
  /** To follow redirects. */
  | 'redirects'
  /** To let us wait before each redirect. */
  | 'redirectUnits'
  /** To carry options of Tokenlane for one call. */
  | 'callOptions'
  /** Responses that do not hold the request that was sent. */
  | 'cleanResponses'
  | `body: ${BodyKind}`

/** One sentence each, for the table. */
export interface Limit {
  /** Why, for example "got takes no Blob as a body." */
  readonly reason: string
  /** What happens instead. */
  readonly instead: string
}
