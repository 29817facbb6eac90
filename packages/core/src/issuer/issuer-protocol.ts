import type { ClientAuthentication } from './client-authentication.ts'
import { secretInForm } from './client-authentication.ts'
import type { ServerMetadata } from './server-metadata.ts'

/** What an issuer is spoken to with. A bundle carries only what its application's issuers need. */
export interface IssuerProtocol {
  /** How clients can prove themselves. */
  readonly methods: readonly ClientAuthentication[]
  /** Returns the server that publishes its metadata. */
  readonly discover?: (issuer: URL, option: string) => ServerMetadata
}

/** A known token endpoint, and a secret in the form. */
const plain: IssuerProtocol = { methods: [secretInForm] }

/** Registered, so that it also holds across two copies of the package. */
const key: unique symbol = Symbol.for('tokenlane.protocol') as never

/** Returns options that bring a protocol with them, also into copies that are made with `{ ...options }`. */
export function speaking<T extends object>(options: T, protocol: IssuerProtocol): T {
  return { ...options, [key]: protocol }
}

/** Returns the protocol that an issuer's options bring. */
export function protocolOf(options: object): IssuerProtocol {
  return (options as { readonly [key]?: IssuerProtocol })[key] ?? plain
}
