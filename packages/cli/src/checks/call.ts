import { finding, type Finding, guide } from '../doctor/finding.ts'
import type { CallFacts } from '../facts/call.ts'
import type { Facts } from '../facts/facts.ts'
import { isForAnother } from './audience.ts'
import { ownCertificate } from './client-certificate.ts'

/** Finds what is wrong with the call: its route, the kind of 401 or 403, another status, or a failure. */
export function checkCall(facts: Facts): Finding[] {
  const { call, configuration, missingApis, tokens, servers, events } = facts
  if (call === undefined) return []
  const { url, api, status, error, failure, isHtml = false } = call
  // the finding of the missing variable explains it
  if (api === undefined && missingApis.length > 0) return []
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
            why: "The application's calls wait until their own timeout.",
            fix: "The server hangs, or there is nothing behind its load balancer: tell the API's operator.",
          }),
        ]
      : [
          failed(
            url,
            `The call failed (${failure}).`,
            `Check the server and the network path to it. ${ownCertificate}`,
          ),
        ]
  }
  // the finding of the audience explains it, unless the next token was accepted
  if (status === 401 && !call.isNextAccepted && isForAnother(api, facts)) return []
  if (status === 403 || (status === 401 && call.challenge === 'insufficient_scope'))
    return [forbidden(call, issuer)]
  if (status === 401) return [unauthorized(call, issuer, others, configuration.store)]
  if (status !== undefined && status >= 500)
    return [
      failed(
        url,
        `Status ${status}. Whether the API accepts the token is not known.`,
        "The API, or a proxy in front of it, is down or overloaded. If this persists, tell the API's operator.",
      ),
    ]
  if (status === 405)
    return [
      finding('call-failed', 'warning', url, {
        seen: 'Status 405.',
        why: 'Whether the API accepts the token is not known.',
        fix: 'This URL does not accept GET: pass one that does.',
      }),
    ]
  if (status !== undefined && status >= 400)
    return [
      failed(
        url,
        `Status ${status}.`,
        new URL(url).pathname.includes('//')
          ? 'The path has an empty segment, //: remove one slash. The base URL before it probably ends with one already.'
          : `The token was sent; look at the URL, and at the response with \`tokenlane call\`.${status === 400 && isHtml ? ` ${ownCertificate}` : ''}`,
      ),
    ]
  return status === undefined ? [] : instead(call, status)
}

/** Returns the finding for a page or a redirect in place of the API's response. */
function instead({ url, isHtml = false, redirectedTo }: CallFacts, status: number): Finding[] {
  const isRedirect = status >= 300
  if (isRedirect ? redirectedTo === undefined : !isHtml) return []
  return [
    finding('firewall-page', 'warning', url, {
      seen: isRedirect
        ? `Status ${status}: a redirect to ${redirectedTo}.`
        : `Status ${status} with an HTML page.`,
      why: 'A login page, proxy or firewall probably responded instead of the API.',
      fix: 'Allow this host in the proxy or firewall, and check the URL. If the API itself responds like this, there is nothing to fix.',
    }),
  ]
}

function forbidden({ url, status, challenge, scope, isHtml = false }: CallFacts, issuer: string): Finding {
  // a firewall knows nothing of scopes
  if (isHtml && challenge === undefined)
    return finding('call-forbidden', 'error', url, {
      seen: `Status ${status} with an HTML page.`,
      why: 'A proxy or firewall responded instead of the API.',
      fix: 'Allow this host in the proxy or firewall.',
    })
  const reasons = [challenge, scope && `scope "${scope}"`].filter(Boolean).join(', ')
  return finding('call-forbidden', 'error', url, {
    seen: `Status ${status}${reasons && ` (${reasons})`}.`,
    why: 'The API accepted the token, but this client is not allowed to do this.',
    fix: scope
      ? `Request this scope: add "${scope}" to the \`scope\` of the issuer "${issuer}". If the issuer refuses it, ask its operator to allow it for this client.`
      : "Ask the API's operator to grant this permission, or to name the scope that the call needs.",
  })
}

function limited(url: string, status: number | undefined): Finding {
  const later =
    status === undefined || status === 429 ? '' : ` It was sent again after the pause: status ${status}.`
  return finding('call-limited', later ? 'warning' : 'error', url, {
    seen: `The API refused the doctor's only call: its rate limit is used up.${later}`,
    why: 'Something else is using the quota, such as another process or manager, or `ratePolicy` allows more than the API does.',
    fix: `Set this API's \`ratePolicy\` to what its operator allows, and share it between all processes: ${guide}/fleet.md.`,
  })
}

function unrouted(url: string, all: readonly string[]): Finding {
  const { origin } = new URL(url)
  const near = all.filter((baseUrl) => baseUrl.startsWith(`${origin}/`))
  const seen =
    near.length > 0
      ? `The path is outside the APIs on this origin: ${near.join(', ')}.`
      : all.length > 0
        ? `The URL is outside every configured API: ${all.join(', ')}.`
        : 'No API is configured.'
  return finding('call-unrouted', 'error', url, {
    seen,
    why: 'Calls to it are sent without a token.',
    fix: differenceFrom(new URL(url), near) ?? 'Compare scheme, host, port and path with each `baseUrl`.',
  })
}

/** Returns in what the path differs from those of the APIs on its origin; `undefined` without any. */
function differenceFrom({ pathname }: URL, near: readonly string[]): string | undefined {
  if (near.length === 0) return undefined
  const paths = near.map((baseUrl) => new URL(baseUrl).pathname)
  return `The path is ${pathname}, and ${near.length === 1 ? "the API's `baseUrl` begins" : 'each `baseUrl` begins'} with ${paths.join(' or ')}: correct the \`baseUrl\` or the URL.`
}

function unauthorized(
  {
    url,
    challenge,
    description,
    otherSchemes = [],
    isTokenRefused = false,
    isNextAccepted = false,
  }: CallFacts,
  issuer: string,
  others: readonly string[],
  hasStore: boolean,
): Finding {
  const said = description === undefined ? '' : `: "${description}"`
  if (isNextAccepted)
    return finding('token-contested', 'warning', url, {
      seen: `Status 401 for a token that the issuer "${issuer}" had just issued, but not for the next token.`,
      why: 'If the issuer keeps only one live token per client, a token stops working as soon as another process gets a new one.',
      fix: hasStore
        ? 'Another program uses the same client: give it its own.'
        : `Share tokens between all processes through a \`store\`, such as the one in @tokenlane/redis: ${guide}/fleet.md.`,
    })
  if (challenge === 'invalid_token' || isTokenRefused) {
    // no token of another issuer was tried: it may not be sent to this API
    const first =
      others.length === 0
        ? 'that the API and the issuer belong to the same environment'
        : `this API's \`issuer\` (could it be ${others.map((other) => `"${other}"`).join(' or ')}?)`
    return finding('call-wrong-issuer', 'error', url, {
      seen: `Status 401 (${challenge ?? 'no reason'}${said}) for a token that the issuer has just issued.`,
      why: `The API does not accept this client's tokens from the issuer "${issuer}".`,
      fix: `Check ${first}, the issuer's \`scope\` and \`parameters\` (audience or resource), and whether this client may call the API.${said === '' ? ' `tokenlane call` shows what the API says in its body.' : ''}`,
    })
  }
  const asked = otherSchemes.length > 0 ? `it asks for ${otherSchemes.join(', ')}` : 'no known reason'
  return finding('call-unauthorized', 'error', url, {
    seen: `Status 401 (${challenge ?? asked}${said}); a new token would not help.`,
    why: 'The API wants something other than a bearer token, or a proxy in front of it refuses the call.',
    fix: "Ask the API's operator what this URL needs.",
  })
}

function failed(url: string, seen: string, fix: string): Finding {
  return finding('call-failed', 'error', url, {
    seen,
    why: "The application's calls fail in the same way.",
    fix,
  })
}
