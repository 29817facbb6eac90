import { finding, type Finding } from '../doctor/finding.ts'
import type { CallFacts } from '../facts/call.ts'
import type { Facts } from '../facts/facts.ts'

/** Finds what is wrong with the call: its route, the kind of 401 or 403, another status, or a failure. */
export function checkCall({ call, configuration, tokens, servers }: Facts): Finding[] {
  if (call === undefined) return []
  const { url, api, status, error, failure } = call
  if (api === undefined) return [unrouted(url, configuration?.apis.map(({ baseUrl }) => baseUrl) ?? [])]
  const issuer = configuration?.apis.find(({ baseUrl }) => baseUrl === api)?.issuer ?? ''
  const others = configuration?.issuers.map(({ name }) => name).filter((name) => name !== issuer) ?? []
  if (error !== undefined) {
    // the finding of the issuer already explains it
    if (tokens.some((token) => token.issuer === issuer && token.lifetime === undefined)) return []
    return [
      failed(
        url,
        `The call was not sent: ${error.code}.`,
        `Look up ${error.code} in node_modules/@tokenlane/core/troubleshoot.md.`,
      ),
    ]
  }
  if (failure !== undefined) {
    const { origin } = new URL(url)
    const explained = servers.some(
      (one) => one.origin === origin && !one.throughFetch && (one.failure ?? one.certificateFailure),
    )
    return explained
      ? []
      : [failed(url, `The call failed (${failure}).`, 'Check the server and the way to it.')]
  }
  if (status === 401) return [unauthorized(call, issuer, others)]
  if (status === 403)
    return [
      finding('call-forbidden', 'error', url, {
        seen: call.isHtml ? 'Status 403 with an HTML page.' : 'Status 403.',
        why: call.isHtml
          ? 'A proxy or a firewall answered in place of the API.'
          : 'The API accepted the token, and this client may not do this.',
        fix: call.isHtml
          ? 'Have this host opened for this machine.'
          : "Ask the API's operator for this right, or for the scope that it needs.",
      }),
    ]
  if (status !== undefined && status >= 400)
    return [
      failed(
        url,
        `Status ${status}.`,
        'The token was sent; look at the URL, and at the response with `tokenlane call`.',
      ),
    ]
  return []
}

function unrouted(url: string, baseUrls: readonly string[]): Finding {
  return finding('call-unrouted', 'error', url, {
    seen: `The URL is outside every configured API: ${baseUrls.join(', ') || 'there are none'}.`,
    why: 'Its calls are sent without a token.',
    fix: 'Compare scheme, host, port and path with each `baseUrl`.',
  })
}

function unauthorized(
  { url, challenge, isTokenRefused = false }: CallFacts,
  issuer: string,
  others: readonly string[],
): Finding {
  if (challenge === 'invalid_token' || isTokenRefused)
    return finding('call-wrong-issuer', 'error', url, {
      seen: `Status 401 (${challenge ?? 'no reason'}) for a token that the issuer has just given.`,
      why: `The API does not take the tokens of the issuer "${issuer}".`,
      fix: `Check that API and issuer are of one environment${others.length === 0 ? '' : `. If they are, set \`issuer\` of this API to ${others.map((other) => `"${other}"`).join(' or ')}`}.`,
    })
  return finding('call-unauthorized', 'error', url, {
    seen: `Status 401 (${challenge ?? 'no known reason'}); a new token would not help.`,
    why: 'The API asks for something other than a bearer token, or a proxy in front of it refuses.',
    fix: "Ask the API's operator what this URL needs.",
  })
}

function failed(url: string, seen: string, fix: string): Finding {
  return finding('call-failed', 'error', url, {
    seen,
    why: 'Calls of the application fail in the same way.',
    fix,
  })
}
