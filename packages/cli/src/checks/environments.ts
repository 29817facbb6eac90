import { finding, type Finding } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'

const testing = /(?:^|[.-])(?:test|testing|tst|uat|qa|dev|stage|staging|sandbox|preprod|int)\d*(?=[.-])/

/** Finds APIs that seem to belong to another environment than their issuer, by the names of their hosts. */
export function checkEnvironments({ configuration }: Facts): Finding[] {
  return configuration.apis.flatMap(({ baseUrl, issuer }) => {
    const from = configuration.issuers.find(({ name }) => name === issuer)
    if (from === undefined) return []
    const hosts = [new URL(baseUrl).hostname, new URL(from.url).hostname]
    const [api, auth] = hosts.map((host) => testing.test(host))
    if (api === auth) return []
    return [
      finding('environments-mixed', 'warning', baseUrl, {
        seen: `The API is at ${hosts[0]} and its issuer "${issuer}" at ${hosts[1]}: one of them looks like a test environment.`,
        why: 'Tokens from one environment are refused in the other.',
        fix: `Use the issuer and the API of the same environment in \`${from.option}\` and the API's \`baseUrl\`.`,
      }),
    ]
  })
}
