import { finding, type Finding } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'

/** Finds issuers whose tokens live for less than twice `renewBefore`. */
export function checkLifetimes({ tokens, configuration }: Facts): Finding[] {
  return tokens.flatMap(({ issuer, lifetime }) => {
    const margin = configuration.issuers.find(({ name }) => name === issuer)?.renewBefore
    if (lifetime === undefined || margin === undefined || lifetime >= 2 * margin) return []
    return [
      finding('lifetime-short', 'warning', `issuer ${issuer}`, {
        seen: `A token lives for ${Math.round(lifetime / 1_000)} s, but \`renewBefore\` is ${Math.round(margin / 1_000)} s. Half of the lifetime is used instead.`,
        why: 'Tokens are requested more often than expected.',
        fix: `Set \`renewBefore\` to ${Math.floor(lifetime / 4)} (milliseconds) or less, or remove it.`,
      }),
    ]
  })
}
