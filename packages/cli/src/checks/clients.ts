import { finding, type Finding } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'
import type { TokenFacts } from '../facts/token.ts'

/** Finds clients of an issuer that it refuses, or accepts beside another: a rotation is not finished, or would fail. */
export function checkClients({ tokens }: Facts): Finding[] {
  return tokens.flatMap((facts) => [...ofAssertions(facts), ...ofSecrets(facts)])
}

/** Finds assertions from outside that do not work, and secrets that are not needed beside one that does. */
function ofAssertions({ issuer, clients = [], readableByAll = [] }: TokenFacts): Finding[] {
  const subject = `issuer ${issuer}`
  const asserting = clients.filter(({ assertion }) => assertion !== undefined)
  const bySecret = clients.filter(
    ({ assertion, outcome }) => assertion === undefined && outcome === 'accepted',
  )
  const found = asserting.flatMap(({ assertion, outcome }) => {
    if (assertion?.fault !== undefined)
      return [
        finding('assertion-not-sent', 'warning', subject, {
          seen: assertion.fault,
          why: 'The issuer would refuse it, so it was not sent: the client proves itself in another way, and calls fail when that ends.',
          fix: 'Request the assertion for the audience that the message names, check that what renews it runs, and check the clock of this machine.',
        }),
      ]
    if (outcome !== 'refused') return []
    return [
      finding('assertion-refused', 'warning', subject, {
        seen: 'The issuer refuses the assertion, and accepts another client of the list.',
        why: 'Calls will fail when the other one ends.',
        fix: 'Let the issuer trust who signs the assertion (`iss` and its keys), for this subject (`sub`) and client.',
      }),
    ]
  })
  const readable = readableByAll.map((path) =>
    finding('assertion-readable', 'warning', subject, {
      seen: `Every user of this machine may read ${path}.`,
      why: 'Whoever reads an assertion can get tokens with it until it expires.',
      fix: 'Let only the user of the application read it (mode 0600 or 0640).',
    }),
  )
  const isDroppable = bySecret.length > 0 && asserting.some(({ outcome }) => outcome === 'accepted')
  const droppable = finding('secret-droppable', 'info', subject, {
    seen: 'The issuer accepts the assertion as well as the secret.',
    why: 'The secret is not needed any more.',
    fix: 'Put the assertion in front of the list in every process, then end the secret at the issuer: docs/guide/from-secret-to-none.md.',
  })
  return [...found, ...readable, ...(isDroppable ? [droppable] : [])]
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
}
