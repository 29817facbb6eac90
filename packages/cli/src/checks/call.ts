import { type Check, table } from './finding.ts'
import { guide } from '../guide.ts'
import type { CallFacts } from '../facts/call.ts'
import type { Facts } from '../facts/facts.ts'
import { isForAnother } from './audience.ts'
import { ownCertificate } from './client-certificate.ts'

interface Case extends CallFacts {
  /** Every `baseUrl`, and those on the origin of the call. */
  readonly all: readonly string[]
  readonly near: readonly string[]
  readonly issuer: string
  readonly others: readonly string[]
  readonly hasStore: boolean
  readonly isLimited: boolean
}

const tokenUnknown = 'Whether the API accepts the token is not known.'
const sameForAll = "The application's calls fail in the same way."
const forbids = ({ status, challenge }: Case): boolean =>
  status === 403 || (status === 401 && challenge === 'insufficient_scope')
const hasStatus =
  (from: number, to: number) =>
  ({ status = 0 }: Case): boolean =>
    status >= from && status <= to

/** Finds what is wrong with the call: its route, the kind of 401 or 403, another status, or a failure. */
export const checkCall: Check = table({
  cases(facts): Case[] {
    const { call, configuration, events } = facts
    if (call === undefined || isExplained(call, facts)) return []
    const all = configuration.apis.map(({ baseUrl }) => baseUrl)
    const issuer = configuration.apis.find(({ baseUrl }) => baseUrl === call.api)?.issuer ?? ''
    return [
      {
        ...call,
        all,
        near: all.filter((baseUrl) => baseUrl.startsWith(`${new URL(call.url).origin}/`)),
        issuer,
        others: configuration.issuers.map(({ name }) => name).filter((name) => name !== issuer),
        hasStore: configuration.store,
        isLimited: isLimited(call, events),
      },
    ]
  },
  subject: ({ url }) => url,
  why: sameForAll,
  rows: [
    {
      id: 'call-unrouted',
      when: ({ api }) => api === undefined,
      seen({ near, all }) {
        if (near.length > 0) return `The path is outside the APIs on this origin: ${near.join(', ')}.`
        return all.length > 0
          ? `The URL is outside every configured API: ${all.join(', ')}.`
          : 'No API is configured.'
      },
      why: 'Calls to it are sent without a token.',
      fix({ url, near }) {
        if (near.length === 0) return 'Compare scheme, host, port and path with each `baseUrl`.'
        const paths = near.map((baseUrl) => new URL(baseUrl).pathname)
        return `The path is ${new URL(url).pathname}, and ${near.length === 1 ? "the API's `baseUrl` begins" : 'each `baseUrl` begins'} with ${paths.join(' or ')}: correct the \`baseUrl\` or the URL.`
      },
    },
    {
      id: 'call-limited',
      when: (one) => one.isLimited,
      severity: ({ status = 429 }) => (status === 429 ? 'error' : 'warning'),
      seen: ({ status = 429 }) =>
        `The API refused the doctor's only call: its rate limit is used up.${status === 429 ? '' : ` It was sent again after the pause: status ${status}.`}`,
      why: 'Something else is using the quota, such as another process or manager, or `ratePolicy` allows more than the API does.',
      fix: `Set this API's \`ratePolicy\` to what its operator allows, and share it between all processes: ${guide}/fleet.md.`,
    },
    {
      id: 'call-failed',
      when: ({ error }) => error !== undefined,
      seen: ({ error }) => `The call was not sent: ${error?.code}.`,
      fix: ({ error }) => `Look up ${error?.code} in node_modules/@tokenlane/core/troubleshoot.md.`,
    },
    {
      id: 'no-response',
      when: ({ failure }) => failure === 'TimeoutError',
      seen: 'The API sent no response to the call.',
      why: "The application's calls wait until their own timeout.",
      fix: "The server hangs, or there is nothing behind its load balancer: tell the API's operator.",
    },
    {
      id: 'call-failed',
      when: ({ failure }) => failure !== undefined,
      seen: ({ failure }) => `The call failed (${failure}).`,
      fix: `Check the server and the network path to it. ${ownCertificate}`,
    },
    {
      // a firewall knows nothing of scopes
      id: 'call-forbidden',
      when: (one) => forbids(one) && one.isHtml === true && one.challenge === undefined,
      seen: ({ status }) => `Status ${status} with an HTML page.`,
      why: 'A proxy or firewall responded instead of the API.',
      fix: 'Allow this host in the proxy or firewall.',
    },
    {
      id: 'call-forbidden',
      when: forbids,
      seen({ status, challenge, scope }) {
        const reasons = [challenge, scope && `scope "${scope}"`].filter(Boolean).join(', ')
        return `Status ${status}${reasons && ` (${reasons})`}.`
      },
      why: 'The API accepted the token, but this client is not allowed to do this.',
      fix: ({ scope, issuer }) =>
        scope
          ? `Request this scope: add "${scope}" to the \`scope\` of the issuer "${issuer}". If the issuer refuses it, ask its operator to allow it for this client.`
          : "Ask the API's operator to grant this permission, or to name the scope that the call needs.",
    },
    {
      id: 'token-contested',
      severity: 'warning',
      when: ({ status, isNextAccepted }) => status === 401 && isNextAccepted === true,
      seen: ({ issuer }) =>
        `Status 401 for a token that the issuer "${issuer}" had just issued, but not for the next token.`,
      why: 'If the issuer keeps only one live token per client, a token stops working as soon as another process gets a new one.',
      fix: ({ hasStore }) =>
        hasStore
          ? 'Another program uses the same client: give it its own.'
          : `Share tokens between all processes through a \`store\`, such as the one in @tokenlane/redis: ${guide}/fleet.md.`,
    },
    {
      id: 'call-wrong-issuer',
      when: ({ status, challenge, isTokenRefused }) =>
        status === 401 && (challenge === 'invalid_token' || isTokenRefused === true),
      seen: (one) =>
        `Status 401 (${one.challenge ?? 'no reason'}${said(one)}) for a token that the issuer has just issued.`,
      why: ({ issuer }) => `The API does not accept this client's tokens from the issuer "${issuer}".`,
      fix(one) {
        // no token of another issuer was tried: it may not be sent to this API
        const first =
          one.others.length === 0
            ? 'that the API and the issuer belong to the same environment'
            : `this API's \`issuer\` (could it be ${one.others.map((other) => `"${other}"`).join(' or ')}?)`
        return `Check ${first}, the issuer's \`scope\` and \`parameters\` (audience or resource), and whether this client may call the API.${said(one) === '' ? ' `tokenlane call` shows what the API says in its body.' : ''}`
      },
    },
    {
      id: 'call-unauthorized',
      when: hasStatus(401, 401),
      seen(one) {
        const { challenge, otherSchemes = [] } = one
        const asked = otherSchemes.length > 0 ? `it asks for ${otherSchemes.join(', ')}` : 'no known reason'
        return `Status 401 (${challenge ?? asked}${said(one)}); a new token would not help.`
      },
      why: 'The API wants something other than a bearer token, or a proxy in front of it refuses the call.',
      fix: "Ask the API's operator what this URL needs.",
    },
    {
      id: 'call-failed',
      when: hasStatus(500, Infinity),
      seen: ({ status }) => `Status ${status}. ${tokenUnknown}`,
      fix: "The API, or a proxy in front of it, is down or overloaded. If this persists, tell the API's operator.",
    },
    {
      id: 'call-failed',
      severity: 'warning',
      when: hasStatus(405, 405),
      seen: 'Status 405.',
      why: tokenUnknown,
      fix: 'This URL does not accept GET: pass one that does.',
    },
    {
      id: 'call-failed',
      when: hasStatus(400, 499),
      seen: ({ status }) => `Status ${status}.`,
      fix: ({ url, status, isHtml }) =>
        new URL(url).pathname.includes('//')
          ? 'The path has an empty segment, //: remove one slash. The base URL before it probably ends with one already.'
          : `The token was sent; look at the URL, and at the response with \`tokenlane call\`.${status === 400 && isHtml ? ` ${ownCertificate}` : ''}`,
    },
    {
      id: 'firewall-page',
      severity: 'warning',
      when: ({ status = 0, redirectedTo, isHtml = false }) =>
        status >= 300 ? redirectedTo !== undefined : status > 0 && isHtml,
      seen: ({ status = 0, redirectedTo }) =>
        status >= 300
          ? `Status ${status}: a redirect to ${redirectedTo}.`
          : `Status ${status} with an HTML page.`,
      why: 'A login page, proxy or firewall probably responded instead of the API.',
      fix: 'Allow this host in the proxy or firewall, and check the URL. If the API itself responds like this, there is nothing to fix.',
    },
  ],
})

function said({ description }: Case): string {
  return description === undefined ? '' : `: "${description}"`
}

const ofApi = (events: Facts['events'], api: string | undefined): Facts['events'] =>
  events.filter((event) => 'api' in event && event.api === api)

function isLimited({ status, api }: CallFacts, events: Facts['events']): boolean {
  const isPaused = ofApi(events, api).some(
    (event) => event.type === 'api.paused' && event.reason === 'refused',
  )
  return status === 429 || isPaused
}

/** Returns whether the finding of another subject already explains what became of the call. */
function isExplained(call: CallFacts, facts: Facts): boolean {
  const { url, api, status, error, failure } = call
  const { missingApis, events, tokens, servers, configuration } = facts
  if (api === undefined) return missingApis.length > 0
  if (isLimited(call, events)) return ofApi(events, api).some(({ type }) => type === 'policy.differs')
  const issuer = configuration.apis.find(({ baseUrl }) => baseUrl === api)?.issuer
  if (error !== undefined)
    return tokens.some((token) => token.issuer === issuer && token.lifetime === undefined)
  const { origin } = new URL(url)
  if (failure !== undefined)
    return servers.some(
      (one) =>
        one.origin === origin && !one.throughFetch && (one.failure ?? one.certificateFailure) !== undefined,
    )
  // unless the next token was accepted
  return status === 401 && !call.isNextAccepted && isForAnother(api, facts)
}
