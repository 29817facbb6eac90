import { finding, type Finding } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'
import { contains } from '../metadata/protected-resource.ts'

/** Finds exported axios clients of an API without tokens. One with another `baseURL`, or none, may be for other servers. */
export function checkAttachments({ axiosClients, configuration: { apis } }: Facts): Finding[] {
  return axiosClients.flatMap(({ name, baseUrl, hasTokens }) => {
    if (hasTokens || baseUrl === undefined) return []
    const api = apis.find((one) => contains(new URL(one.baseUrl), baseUrl))
    if (api === undefined) return []
    return [
      finding('client-without-tokens', 'warning', `axios client ${name}`, {
        seen: `Its \`baseURL\` belongs to the API ${api.baseUrl}, and no tokens are attached to it.`,
        why: 'It sends calls without a token.',
        fix: 'Call `attachTokens` with it where it is created: each client made by `axios.create` needs that.',
      }),
    ]
  })
}
