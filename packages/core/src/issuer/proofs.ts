import { type ClientAuth, TlsClientAuth } from 'oauth4webapi'
import { certificateKind, pfxKind, tlsIdentityOf } from '../credentials/certificate.ts'
import { type CredentialsKind, markOf } from '../credentials/client.ts'
import {
  type CertificateCredentials,
  type Credentials,
  type PfxCredentials,
  type PrivateKeyCredentials,
  unavailable,
} from '../credentials/credentials.ts'
import { keyKind, signedJwt } from '../credentials/private-key.ts'
import { canSendCertificate, certificateFetch } from '../tls/client-certificate.ts'
import { byAssertion, givenAssertion } from './given-assertion.ts'
import { type ClientProof, type ClientProofs, secretInForm } from './protocol.ts'

// The ways below are functions: a bundler keeps an object with a spread in it even where nothing uses it.

/** The secret in the `Authorization` header (RFC 6749 §2.3.1). */
const secretInHeader = (): ClientProof => ({
  ...secretInForm,
  method: 'client_secret_basic',
  prove(client): ClientAuth {
    const { clientId, clientSecret } = client as Credentials
    const credentials = `Basic ${btoa(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`)}`
    return (_server, _client, _body, headers) => headers.set('authorization', credentials)
  },
  hint(client) {
    const { clientId, clientSecret } = client as Credentials
    const isEncoded = [clientId, clientSecret].some((text) => formEncoded(text) !== text)
    return isEncoded
      ? '; some servers do not form-decode `client_secret_basic`: try `client_secret_post`'
      : ''
  },
})

/** Encodes what must be encoded (RFC 6749 appendix B). oauth4webapi encodes `-`, `_`, `.` and `*` too, as few servers expect. */
function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1)
}

/** In seconds: clocks differ by some, and not every server takes an assertion of a moment to come. */
const leeway = 5

/** A signed assertion (RFC 7523 §2.2), with a new `jti` each time. */
const signedAssertion = (): ClientProof => ({
  ...keyKind,
  isTimed: true,
  async prove(client, { audience, metadata, clock }, { issuer }) {
    const { clientId } = client
    const from = Math.floor(Date.now() / 1_000) + clock.ahead - leeway
    const names = { jti: globalThis.crypto.randomUUID(), iss: clientId, sub: clientId, aud: audience }
    const claims = { ...names, iat: from, nbf: from, exp: from + 60 }
    const listed = metadata.token_endpoint_auth_signing_alg_values_supported
    const assertion = signedJwt(client as PrivateKeyCredentials, claims, listed)
    return byAssertion(
      await assertion.catch((error: Error) => {
        throw unavailable(issuer, error.message, { definite: true })
      }),
    )
  },
})

function clientCertificate(kind: CredentialsKind, ownFetch: boolean): ClientProof {
  const obstacle = {
    given: 'for tls_client_auth, which needs `node:https`, not the `fetch` option',
    allowed: 'another method',
  }
  const unusable = Object.fromEntries(
    Object.keys(kind.needed).map((field) => [field, () => (field === markOf(kind) ? obstacle : undefined)]),
  )
  return {
    ...kind,
    needed: ownFetch || !canSendCertificate() ? unusable : kind.needed,
    prove: () => TlsClientAuth(),
    fetchOf: (client) => certificateFetch(tlsIdentityOf(client as CertificateCredentials | PfxCredentials)),
  }
}

/** Returns all ways in which a client can prove itself. A certificate comes before a key, since it has one, too. */
export function oauthProofs(ownFetch: boolean): ClientProofs {
  const certificates = [certificateKind, pfxKind].map((kind) => clientCertificate(kind, ownFetch))
  return [secretInForm, secretInHeader(), ...certificates, signedAssertion(), givenAssertion]
}
