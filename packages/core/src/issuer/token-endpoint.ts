import type { AskedIssuer, Asking } from './protocol.ts'

/** Where and how one issuer is asked for a token. */
export interface TokenEndpoint extends Pick<AskedIssuer, 'url' | 'option' | 'proof'>, AskOptions {
  /** Name of the issuer. */
  readonly issuer: string
  /** The most likely mistake where no token endpoint is at that URL, as a question; empty where none is likely. */
  readonly mistake: string
  /** `scope` and what else the form holds beside grant and client. */
  readonly parameters: readonly FormField[]
  readonly asking?: Asking | undefined
}

/** A field of the form that a token request sends. */
export type FormField = readonly [name: string, value: string]

/** What all issuers of a manager have in common. */
export interface AskOptions {
  /** The `fetch` to ask with; by default the runtime's at the time of the request. */
  readonly fetch: typeof globalThis.fetch | undefined
  /** Called with every URL of the issuer just before it is asked. */
  readonly beforeRequest?: ((url: URL) => void) | undefined
  /** The manager that asks, so that a subscriber of the tracing channel can tell several apart. */
  readonly manager?: object | undefined
}

/** Returns what a token depends on beside its client: no token is shared across a difference. */
export function identityOf({ url, parameters }: TokenEndpoint): readonly unknown[] {
  return [url.href, ...parameters.map((parameter) => JSON.stringify(parameter)).toSorted()]
}
