import { type Check, row } from './finding.ts'
import type { Facts } from '../facts/facts.ts'
import type { TokenFacts } from '../facts/token.ts'

/** Finds tokens that are for another audience than the name that their API gives itself (RFC 9728 §2). */
export const checkAudiences: Check = row({
  cases: (facts) =>
    facts.configuration.apis
      .filter(({ baseUrl }) => isForAnother(baseUrl, facts))
      .map(({ baseUrl, issuer }) => {
        const { tokens, call } = facts
        const { resource = '' } = facts.resources.find(({ api }) => api === baseUrl) ?? {}
        const status = call?.api === baseUrl ? call.status : undefined
        return {
          baseUrl,
          issuer,
          resource,
          status,
          isAccepted: status !== undefined && status < 400,
          audiences: tokens.find((token) => token.issuer === issuer)?.audiences ?? [],
          right: tokens.filter((token) => names(token, resource)).map((token) => `"${token.issuer}"`),
        }
      }),
  subject: ({ baseUrl }) => `API ${baseUrl}`,
  id: 'audience-differs',
  severity({ status, isAccepted }) {
    if (status === 401) return 'error'
    return isAccepted ? 'info' : 'warning'
  },
  seen: ({ issuer, audiences, resource }) =>
    `Tokens from the issuer "${issuer}" are for ${audiences.join(', ')} (\`aud\`). The API's metadata names ${resource} as its \`resource\`.`,
  why: ({ isAccepted }) =>
    isAccepted
      ? 'The API accepted the token: either it does not check audiences, or its metadata is out of date.'
      : 'An API refuses tokens for another audience.',
  fix: ({ right, resource }) =>
    right.length > 0
      ? `Set this API's \`issuer\` to ${right.join(' or ')}.`
      : `Request tokens for ${resource}: set \`parameters: { resource: '${resource}' }\` on the issuer (RFC 8707), or the scope or \`audience\` by which it knows this API.`,
})

export function isForAnother(baseUrl: string, { configuration, tokens, resources }: Facts): boolean {
  const resource = resources.find(({ api }) => api === baseUrl)?.resource
  const issuer = configuration.apis.find((api) => api.baseUrl === baseUrl)?.issuer
  const token = tokens.find((each) => each.issuer === issuer)
  return resource !== undefined && token?.audiences !== undefined && !names(token, resource)
}

function names({ audiences = [] }: TokenFacts, resource: string): boolean {
  return audiences.some((one) => comparable(one) === comparable(resource))
}

/** An origin is the same with and without the slash at its end (RFC 3986 §6.2.3). */
function comparable(identifier: string): string {
  return URL.parse(identifier)?.href ?? identifier
}
