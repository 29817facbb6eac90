import { type ClientAuth, ClientSecretPost } from 'oauth4webapi'
import type {
  CertificateCredentials,
  ClientAuthenticationMethod,
  ClientCredentials,
  Credentials,
} from '../credentials/credentials.ts'

/** How a client proves itself in a token request. */
export interface ClientAuthentication {
  readonly method: ClientAuthenticationMethod
  /**
   * Returns what proves the client in one token request.
   *
   * @throws TokenlaneError `CREDENTIALS_UNAVAILABLE` for a key that cannot sign.
   */
  prove(client: ClientCredentials, asked: Asked): ClientAuth | Promise<ClientAuth>
  /**
   * Returns a `fetch` that shows the client's certificate. Where this is there, the alias of the token endpoint for
   * certificates is asked (RFC 8705 §5).
   */
  readonly fetchOf?: (client: ClientCredentials) => typeof globalThis.fetch
  /**
   * Returns why the method cannot be used, and what is allowed instead; `undefined` if it can be.
   *
   * @param ownFetch whether the manager has a `fetch` of the application's.
   */
  readonly obstacle?: (ownFetch: boolean) => readonly [given: string, allowed: string] | undefined
}

/** Which server is asked. */
interface Asked {
  /** Name of the issuer. */
  readonly issuer: string
  /** Of an assertion where the server's issuer identifier is unknown: its token endpoint (RFC 7523 §3). */
  readonly audience: string | undefined
}

/** The secret in the form of the request (RFC 6749 §2.3.1). */
export const secretInForm: ClientAuthentication = {
  method: 'client_secret_post',
  prove: (client) => ClientSecretPost((client as Credentials).clientSecret),
}

/** Returns what must not be printed, whatever an error or a response holds. */
export function secretsOf(credentials: ClientCredentials): readonly string[] {
  const { clientSecret } = credentials as Partial<Credentials>
  const { privateKey } = credentials as Partial<CertificateCredentials>
  return [clientSecret, privateKey].filter((text): text is string => typeof text === 'string')
}
