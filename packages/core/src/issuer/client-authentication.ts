import {
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  modifyAssertion,
  PrivateKeyJwt,
  TlsClientAuth,
} from 'oauth4webapi'
import {
  type CertificateCredentials,
  type ClientAuthenticationMethod,
  type ClientCredentials,
  type Credentials,
  type PrivateKeyCredentials,
  unavailable,
} from '../credentials/credentials.ts'
import { importPrivateKey } from '../credentials/private-key.ts'

/** Who is asked, and how clients prove themselves there. */
interface Asked {
  /** Name of the issuer. */
  readonly issuer: string
  readonly method: ClientAuthenticationMethod
}

/**
 * Returns what proves the client in one token request, an assertion with a new `jti` each time.
 *
 * @param audience of an assertion where the server's issuer identifier is unknown: its token endpoint (RFC 7523 §3).
 * @throws TokenlaneError `CREDENTIALS_UNAVAILABLE` for a key that cannot sign.
 */
export async function clientAuthentication(
  { issuer, method }: Asked,
  credentials: ClientCredentials,
  audience: string | undefined,
): Promise<ClientAuth> {
  if (method === 'client_secret_post') return ClientSecretPost((credentials as Credentials).clientSecret)
  if (method === 'client_secret_basic') return ClientSecretBasic((credentials as Credentials).clientSecret)
  if (method === 'tls_client_auth') return TlsClientAuth()
  const { keyId, ...given } = credentials as PrivateKeyCredentials
  try {
    const key = await importPrivateKey(given)
    return PrivateKeyJwt(keyId === undefined ? key : { key, kid: keyId }, {
      [modifyAssertion](_header, payload) {
        if (audience !== undefined) payload['aud'] = audience
      },
    })
  } catch (error) {
    throw unavailable(issuer, (error as Error).message, { definite: true })
  }
}

/** Returns what must not be printed, whatever an error or a response holds. */
export function secretsOf(credentials: ClientCredentials): readonly string[] {
  const { clientSecret } = credentials as Partial<Credentials>
  const { privateKey } = credentials as Partial<CertificateCredentials>
  return [clientSecret, privateKey].filter((text): text is string => typeof text === 'string')
}
