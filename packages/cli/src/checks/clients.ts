import { finding, type Finding, guide } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'
import type { TokenFacts } from '../facts/token.ts'
import { refusedFix, signersOf, unsentFix } from './assertion.ts'

/** Finds clients of an issuer that it refuses, or accepts beside another: a rotation is not finished, or would fail. */
export function checkClients({ tokens }: Facts): Finding[] {
  return tokens.flatMap((facts) => [...ofAssertions(facts), ...ofSecrets(facts)])
}

/** Finds assertions from outside that do not work, and secrets that are not needed beside one that does. */
function ofAssertions(facts: TokenFacts): Finding[] {
  const { issuer, clients = [] } = facts
  const subject = `issuer ${issuer}`
  const asserting = clients.filter(({ assertion }) => assertion !== undefined)
  const bySecret = clients.filter(
    ({ assertion, outcome }) => assertion === undefined && outcome === 'accepted',
  )
  const found = asserting.flatMap(({ fault, outcome }) => {
    if (fault !== undefined)
      return [
        finding('assertion-not-sent', 'warning', subject, {
          seen: fault,
          why: 'The issuer would refuse it, so it was not sent. The client uses its other credentials for now; calls will fail when those expire or are revoked.',
          fix: unsentFix,
        }),
      ]
    if (outcome !== 'refused') return []
    return [
      finding('assertion-refused', 'warning', subject, {
        seen: `The issuer refuses the assertion, but accepts another client in the list. ${signersOf(facts)}`.trim(),
        why: 'Calls will fail when the other credentials expire or are revoked.',
        fix: refusedFix(facts),
      }),
    ]
  })
  const isDroppable = bySecret.length > 0 && asserting.some(({ outcome }) => outcome === 'accepted')
  const droppable = finding('secret-droppable', 'info', subject, {
    seen: 'The issuer accepts the assertion as well as the secret.',
    why: 'The secret is not needed any more.',
    fix: `Put the assertion first in the list in every process, then revoke the secret at the issuer: ${guide}/workload-identity.md#drop-the-secret-in-three-steps.`,
  })
  return [...found, ...(isDroppable ? [droppable] : [])]
}

function ofSecrets({ issuer, clients: all = [] }: TokenFacts): Finding[] {
  const subject = `issuer ${issuer}`
  const clients = all.filter(({ assertion }) => assertion === undefined)
  const accepted = clients.filter(({ outcome }) => outcome === 'accepted')
  const refused = clients.findIndex(({ outcome }) => outcome === 'refused')
  if (accepted.length > 1)
    return [
      finding('secrets-both-live', 'warning', subject, {
        seen: `The issuer accepts ${accepted.length} of the ${clients.length} secrets.`,
        why: 'The rotation is not finished, and an old secret that still works can be misused.',
        fix: 'When every process has the new secret, revoke the old one at the issuer and remove it here.',
      }),
    ]
  if (refused === -1) return []
  const isFirst = refused === 0
  return [
    finding('secret-refused', 'warning', subject, {
      seen: `The issuer refuses secret ${refused + 1} of ${clients.length}, but accepts another.`,
      why: isFirst
        ? 'The old secret no longer works: every new process tries it first, and is refused.'
        : 'If it is the next secret, calls will fail when the current one expires.',
      fix: isFirst
        ? 'Put the newer secret first, and remove the old one.'
        : 'If it is the next secret, copy it again. If it is the old one, remove it.',
    }),
  ]
}
