import type { IncomingMessage } from 'node:http'

import type { Flaw, Outcome } from '../journal/entry.ts'
import type { Realm } from '../realm.ts'
import type { ClientRegistration } from './client-registration.ts'
import type { ClientAuthentication } from './issuer-settings.ts'
import type { TokenExchange } from './oauth-server.ts'
import { proofReaders } from './shown-client.ts'

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
