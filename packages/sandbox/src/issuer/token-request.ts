import type { IncomingMessage } from 'node:http'

import type { Flaw, Outcome } from '../journal/entry.ts'
import type { Realm } from '../realm.ts'
import type { ClientRegistration } from './client-registration.ts'
import type { TokenExchange } from './oauth-server.ts'

interface Judge {
  realm: Realm
  registration: ClientRegistration
}

/** Returns in plain words why the authorization server refused a token request, and what its client did wrong. */
export function judgeTokenRequest(request: IncomingMessage, exchange: TokenExchange, judge: Judge): Outcome {
  const { authorization, 'content-type': contentType = 'none' } = request.headers
  if (authorization !== undefined) {
    return refused(
      'client-authentication',
      'credentials in an Authorization header: they belong into the form',
    )
  }
  if (!/^application\/x-www-form-urlencoded\b/i.test(contentType)) {
    const mediaType = contentType.split(';', 1)[0]
    return refused('content-type', `content type ${mediaType} instead of application/x-www-form-urlencoded`)
  }
  const { clientId, clientSecret, error = 'no reason' } = exchange
  if (!error.startsWith('invalid_client') && clientId !== undefined && clientSecret !== undefined) {
    return refused('token-request', error)
  }
  const wrong = wrongCredentials(clientId, clientSecret, judge)
  // not a mistake of the client: a rotated secret may have been right when the client read it
  return wrong === undefined
    ? { decision: 'refused', reason: 'a secret that was rotated away' }
    : refused('client-authentication', wrong)
}

function wrongCredentials(
  clientId: string | undefined,
  clientSecret: string | undefined,
  { realm, registration }: Judge,
): string | undefined {
  if (clientId === undefined) return 'no client_id in the form'
  if (clientId !== registration.clientId) return `unknown client_id: the ${realm} issuer has another one`
  if (clientSecret === undefined) return 'no client_secret in the form'
  return registration.had(clientSecret) ? undefined : 'a wrong client_secret'
}

function refused(flaw: Flaw, reason: string): Outcome {
  return { decision: 'refused', reason, flaws: [flaw] }
}
