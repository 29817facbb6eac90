import type { TokenlaneError } from '@tokenlane/core'

import { finding, type Finding } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'
import type { TokenFacts } from '../facts/token.ts'
import { reasonIn } from './reason.ts'

/** Finds issuers that gave no token; distinguishes wrong secret, exchanged credentials, path, server and firewall. */
export function checkTokens(facts: Facts): Finding[] {
  const refused = facts.tokens.filter(({ error }) => error?.oauthError === 'invalid_client')
  const exchanged = refused.length > 1
  return facts.tokens.flatMap((token) => {
    if (token.lifetime !== undefined || isExplained(token, facts)) return []
    return [token.error ? findingOf(token.issuer, token.error, exchanged, facts) : noResponse(token.issuer)]
  })
}

/** Returns whether a failed connection or certificate of the issuer already explains the missing token. */
function isExplained({ issuer, error }: TokenFacts, { servers }: Facts): boolean {
  if (error?.status !== undefined || error?.code === 'CREDENTIALS_UNAVAILABLE') return false
  return servers.some(
    ({ roles, failure, certificateFailure }) =>
      roles.includes(`issuer ${issuer}`) && (failure ?? certificateFailure) !== undefined,
  )
}

const why = 'Calls of its APIs need a token, and are not sent.'

function findingOf(
  issuer: string,
  error: TokenlaneError,
  exchanged: boolean,
  { configuration }: Facts,
): Finding {
  const { code, status, oauthError } = error
  const seen = sentence(error)
  const option = configuration?.issuers.find(({ name }) => name === issuer)?.option ?? 'tokenEndpoint'
  const subject = `issuer ${issuer}`
  if (oauthError === 'invalid_client' && exchanged)
    return finding('credentials-exchanged', 'error', subject, {
      seen: `${seen} More than one issuer refuses its client.`,
      why,
      fix: 'Each issuer has a client registration of its own: check that their client ids and secrets are not exchanged, and are those of this environment.',
    })
  if (oauthError === 'invalid_client')
    return finding('wrong-secret', 'error', subject, {
      seen,
      why,
      fix: 'Copy client id and secret again, whole and without spaces. Check that the secret was not rotated, and is of this issuer and this environment.',
    })
  if (oauthError !== undefined)
    return finding('request-refused', 'error', subject, {
      seen,
      why,
      fix: `Ask the issuer's operator what this client may do: ${oauthError} (RFC 6749 §5.2).`,
    })
  if (code === 'CREDENTIALS_UNAVAILABLE')
    return finding('credentials-missing', 'error', subject, {
      seen,
      why,
      fix: 'Correct what the message names: variables, secret files, or the function that reads them.',
    })
  if (status === 404 || status === 405)
    return finding('wrong-path', 'error', subject, {
      seen,
      why,
      fix: `Correct \`${option}\`. The general issuer's path is /public/security/v1/token, the weblink issuer's /IdentityServer/connect/token.`,
    })
  if (seen.includes('as an API does'))
    return finding('not-an-issuer', 'error', subject, {
      seen,
      why,
      fix: `\`${option}\` is the URL of an API: set the issuer's. The secret may well be right.`,
    })
  if (seen.includes('an HTML page'))
    return finding('firewall-page', 'error', subject, {
      seen,
      why: `${why} The credentials were not judged.`,
      fix: `Have this host opened for this machine in the proxy or firewall, and check \`${option}\`.`,
    })
  if (status !== undefined && (status === 429 || status >= 500))
    return finding('issuer-trouble', 'error', subject, {
      seen,
      why: `${why} The application tries again, spaced.`,
      fix:
        status === 429
          ? 'Wait, and share one token between processes: docs/guide/fleet.md.'
          : "Wait. If it stays, tell the issuer's operator.",
    })
  return finding('token-missing', 'error', subject, {
    seen,
    why,
    fix: `Check \`${option}\`, and look up ${code} in node_modules/@tokenlane/core/troubleshoot.md.`,
  })
}

function noResponse(issuer: string): Finding {
  return finding('token-missing', 'error', `issuer ${issuer}`, {
    seen: 'The issuer sent no response in time.',
    why,
    fix: 'A firewall that drops packets looks like this, and so does a proxy that must be used: docs/guide/proxy.md.',
  })
}

/** Returns the reason of an error as a sentence. */
function sentence(error: TokenlaneError): string {
  const reason = reasonIn(error)
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}${reason.endsWith('?') ? '' : '.'}`
}
