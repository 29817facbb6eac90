import { ClientSecretBasic, modifyAssertion, PrivateKeyJwt, TlsClientAuth } from 'oauth4webapi'
import {
  type CertificateCredentials,
  type Credentials,
  type PrivateKeyCredentials,
  unavailable,
} from '../credentials/credentials.ts'
import { importPrivateKey } from '../credentials/private-key.ts'
import { canSendCertificate, certificateFetch } from '../tls/client-certificate.ts'
import type { ClientAuthentication } from './client-authentication.ts'

/** The secret in the `Authorization` header (RFC 6749 §2.3.1). */
export const secretInHeader: ClientAuthentication = {
  method: 'client_secret_basic',
  prove: (client) => ClientSecretBasic((client as Credentials).clientSecret),
}

/** A signed assertion (RFC 7523 §2.2), with a new `jti` each time. */
export const signedAssertion: ClientAuthentication = {
  method: 'private_key_jwt',
  async prove(client, { issuer, audience }) {
    const { keyId, ...given } = client as PrivateKeyCredentials
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
  },
}

/** A TLS certificate (RFC 8705 §2). */
export const clientCertificate: ClientAuthentication = {
  method: 'tls_client_auth',
  prove: () => TlsClientAuth(),
  fetchOf: (client) => certificateFetch(client as CertificateCredentials),
  obstacle(ownFetch) {
    if (ownFetch)
      return [
        'tls_client_auth, whose certificate the option `fetch` cannot present',
        'tls_client_auth without `fetch`',
      ]
    return canSendCertificate()
      ? undefined
      : ['tls_client_auth, which needs `node:https`, and this runtime has none', 'another method']
  },
}
