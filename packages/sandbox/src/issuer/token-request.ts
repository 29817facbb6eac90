import type { IncomingMessage } from 'node:http'

import { decodeJwt, decodeProtectedHeader } from 'jose'

import type { Flaw, Outcome } from '../journal/entry.ts'
import type { Realm } from '../realm.ts'
import type { ClientRegistration } from './client-registration.ts'
import type { ClientAuthentication } from './issuer-settings.ts'
import type { Form, TokenExchange } from './oauth-server.ts'

interface Judge {
  realm: Realm
  registration: ClientRegistration
  clientAuthentication: ClientAuthentication
  takesAssertions: boolean
}

/** Returns in plain words why the authorization server refused a token request, and what its client did wrong. */
export function judgeTokenRequest(
  request: IncomingMessage,
  { form, error = 'no reason', detail = error, assertionFlaws: flaws = [] }: TokenExchange,
  { realm, registration, clientAuthentication, takesAssertions }: Judge,
): Outcome {
  const { authorization, 'content-type': contentType = 'none' } = request.headers
  if (takesAssertions && form['client_assertion'] !== undefined) {
    return { decision: 'refused', reason: `client_assertion refused: ${detail}`, flaws }
  }
  const isInHeader = clientAuthentication === 'client_secret_basic'
  if (authorization !== undefined && !isInHeader) {
    return unauthenticated('credentials in an Authorization header: they belong in the form')
  }
  if (!/^application\/x-www-form-urlencoded\b/i.test(contentType)) {
    const mediaType = contentType.split(';', 1)[0]
    return refused('content-type', `content type ${mediaType} instead of application/x-www-form-urlencoded`)
  }
  if (isInHeader && form['client_secret'] !== undefined) {
    return unauthenticated('credentials in the form: they belong in an Authorization header')
  }
  const reader = proofReaders[clientAuthentication]
  const { place, field, kind } = reader
  const { id, hasProof, proof } = reader.read(form, authorization ?? '')
  if (!error.startsWith('invalid_client') && id !== undefined && hasProof) {
    return refused('token-request', error)
  }
  if (id === undefined) return unauthenticated(`no client_id in the ${place}`)
  if (id !== registration.clientId)
    return unauthenticated(`unknown client_id: the ${realm} issuer expects another one`)
  if (!hasProof) return unauthenticated(`no ${field} in the ${place}`)
  if (proof === undefined || registration.accepts(proof))
    return unauthenticated(`${field} refused: ${detail}`)
  if (!registration.had(proof))
    return unauthenticated(kind === 'key' ? `a ${field} with an unknown key id` : `a wrong ${field}`)
  // not a mistake of the client: what was rotated away may have been right when the client read it
  return { decision: 'refused', reason: `a ${kind} that was rotated out` }
}

const unauthenticated = (reason: string): Outcome => refused('client-authentication', reason)

function refused(flaw: Flaw, reason: string): Outcome {
  return { decision: 'refused', reason, flaws: [flaw] }
}

/** What a token request shows of its client, as its issuer wants it. */
interface ShownClient {
  id: string | undefined
  hasProof: boolean
  /** The secret, or the id of the key; an assertion may name no key. */
  proof: string | undefined
}

/** How messages name the credentials of a method, and how they are read from a token request. */
interface ProofReader {
  /** Where they belong. */
  place: string
  field: string
  kind: 'secret' | 'key'
  read(form: Form, authorization: string): ShownClient
}

const proofReaders: Readonly<Record<ClientAuthentication, ProofReader>> = {
  client_secret_post: {
    place: 'form',
    field: 'client_secret',
    kind: 'secret',
    read: ({ client_id: id, client_secret: proof }) => ({ id, hasProof: proof !== undefined, proof }),
  },
  client_secret_basic: {
    place: 'Authorization header',
    field: 'client_secret',
    kind: 'secret',
    read(_, authorization) {
      const text = Buffer.from(authorization.replace(/^basic +/i, ''), 'base64').toString()
      const [, id, proof] = /^([^:]+):(.+)$/s.exec(text) ?? []
      return { id: decoded(id), hasProof: proof !== undefined, proof: decoded(proof) }
    },
  },
  private_key_jwt: {
    place: 'form',
    field: 'client_assertion',
    kind: 'key',
    read({ client_id: id, client_assertion: assertion }) {
      const { sub, kid } = claimsOf(assertion)
      return { id: id ?? sub, hasProof: assertion !== undefined, proof: kid }
    },
  },
}

/** Decodes half of an `Authorization` header, which is encoded as in a form (RFC 6749 §2.3.1). */
function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

function claimsOf(assertion = ''): { sub?: string; kid?: string } {
  try {
    const { sub } = decodeJwt(assertion)
    const { kid } = decodeProtectedHeader(assertion)
    return { ...(sub !== undefined && { sub }), ...(kid !== undefined && { kid }) }
  } catch {
    return {}
  }
}
