import { finding, type Finding } from '../doctor/finding.ts'
import type { CallFacts } from '../facts/call.ts'
import type { Facts } from '../facts/facts.ts'
import { isForAnother } from './audience.ts'

/** Finds what is wrong with the call: its route, the kind of 401 or 403, another status, or a failure. */
export function checkCall(facts: Facts): Finding[] {
  const { call, configuration, tokens, servers, events } = facts
  if (call === undefined) return []
  const { url, api, status, error, failure } = call
  if (api === undefined)
    return [
      unrouted(
        url,
        configuration.apis.map(({ baseUrl }) => baseUrl),
      ),
    ]
  const issuer = configuration.apis.find(({ baseUrl }) => baseUrl === api)?.issuer ?? ''
  const others = configuration.issuers.map(({ name }) => name).filter((name) => name !== issuer)
  const ofApi = events.filter((event) => 'api' in event && event.api === api)
  if (status === 429 || ofApi.some((event) => event.type === 'api.paused' && event.reason === 'refused'))
    // the finding of the policy already explains it
    return ofApi.some(({ type }) => type === 'policy.differs') ? [] : [limited(url, status)]
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
    if (explained) return []
    return failure === 'TimeoutError'
      ? [
          finding('no-response', 'error', url, {
            seen: 'The API sent no response to the call.',
            why: 'Calls of the application wait until their own timeout.',
            fix: "The server hangs, or nothing is behind its load balancer: tell the API's operator.",
          }),
        ]
      : [failed(url, `The call failed (${failure}).`, 'Check the server and the way to it.')]
  }
  // the finding of the audience explains it, unless the next token was accepted
  if (status === 401 && !call.isNextAccepted && isForAnother(api, facts)) return []
  if (status === 401) return [unauthorized(call, issuer, others, configuration.store)]
  if (status === 403)
    return [
      finding('call-forbidden', 'error', url, {
        seen: call.isHtml ? 'Status 403 with an HTML page.' : 'Status 403.',
        why: call.isHtml
          ? 'A proxy or a firewall answered in place of the API.'
          : 'The API accepted the token, and this client may not do this.',
        fix: call.isHtml
          ? 'Have the proxy or firewall allow this host.'
          : "Ask the API's operator for this right, or for the scope that it needs.",
      }),
    ]
  if (status !== undefined && status >= 400)
    return [
      failed(
        url,
        `Status ${status}.`,
        new URL(url).pathname.includes('//')
          ? 'The path has an empty segment, //: remove one slash. The URL before it probably ends with its own.'
          : 'The token was sent; look at the URL, and at the response with `tokenlane call`.',
      ),
    ]
  return []
}

function limited(url: string, status: number | undefined): Finding {
  const later =
    status === undefined || status === 429 ? '' : ` It was sent again after the pause: status ${status}.`
  return finding('call-limited', later ? 'warning' : 'error', url, {
    seen: `The API refused the doctor's only call for its rate limit.${later}`,
    why: 'Something else uses the quota, such as another process or manager, or `ratePolicy` allows more than the API does.',
    fix: 'Set `ratePolicy` of this API to what its operator allows, and share it between all processes: docs/guide/fleet.md.',
  })
}

function unrouted(url: string, all: readonly string[]): Finding {
  const { origin } = new URL(url)
  const near = all.filter((baseUrl) => baseUrl.startsWith(`${origin}/`))
  const seen =
    near.length > 0
      ? `The path is outside the APIs of this origin: ${near.join(', ')}.`
      : `The URL is outside every configured API: ${all.join(', ') || 'there are none'}.`
  return finding('call-unrouted', 'error', url, {
    seen,
    why: 'Its calls are sent without a token.',
    fix: 'Compare scheme, host, port and path with each `baseUrl`.',
  })
}

function unauthorized(
  { url, challenge, isTokenRefused = false, isNextAccepted = false }: CallFacts,
  issuer: string,
  others: readonly string[],
  hasStore: boolean,
): Finding {
  if (isNextAccepted)
    return finding('token-contested', 'warning', url, {
      seen: `Status 401 for a token that the issuer "${issuer}" had just given, and another one for the next token.`,
      why: 'A token ends when another process gets the next one, if the issuer keeps one live token for each client.',
      fix: hasStore
        ? 'Another program uses the same client: give it a client of its own.'
        : 'Share the tokens of all processes by a `store`, such as that of @tokenlane/redis: docs/guide/fleet.md.',
    })
  if (challenge === 'invalid_token' || isTokenRefused)
    return finding('call-wrong-issuer', 'error', url, {
      seen: `Status 401 (${challenge ?? 'no reason'}) for a token that the issuer has just given.`,
      why: `The API does not take the tokens of the issuer "${issuer}".`,
      fix: `Check that API and issuer belong to the same environment${others.length === 0 ? '' : `. If they are, set \`issuer\` of this API to ${others.map((other) => `"${other}"`).join(' or ')}`}.`,
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
