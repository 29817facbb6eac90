import { finding, type Finding } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'

/** Finds issuers that accept several of their secrets or refuse one: a rotation is not finished, or would fail. */
export function checkClients({ tokens }: Facts): Finding[] {
  return tokens.flatMap(({ issuer, clients = [] }) => {
    const subject = `issuer ${issuer}`
    const accepted = clients.filter(({ outcome }) => outcome === 'accepted')
    const refused = clients.findIndex(({ outcome }) => outcome === 'refused')
    if (accepted.length > 1)
      return [
        finding('secrets-both-live', 'warning', subject, {
          seen: `The issuer accepts ${accepted.length} of the ${clients.length} secrets.`,
          why: 'The rotation is not finished: an old secret that still works can be misused.',
          fix: 'When every process has the new secret, let the issuer end the old one, and remove it here.',
        }),
      ]
    if (refused === -1) return []
    const isFirst = refused === 0
    return [
      finding('secret-refused', 'warning', subject, {
        seen: `The issuer refuses secret ${refused + 1} of ${clients.length}, and accepts another.`,
        why: isFirst
          ? 'The old secret has ended: every process that starts sends it first, in vain.'
          : 'If it is the next secret, calls will fail when the current one ends.',
        fix: isFirst
          ? 'Put the newer secret in its place, and remove the old one.'
          : 'If it is the next secret, copy it again. If it is the old one, remove it.',
      }),
    ]
  })
}
