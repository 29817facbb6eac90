import { type Check, table } from './finding.ts'
import { guide } from '../guide.ts'
import { refusedFix, signersOf, unsentFix } from './assertion.ts'

/** Finds assertions from outside that do not work beside another client of the issuer. */
export const checkAssertions: Check = table({
  cases: ({ tokens }) =>
    tokens.flatMap((token) =>
      (token.clients ?? [])
        .filter(({ assertion }) => assertion !== undefined)
        .map(({ fault, outcome }) => ({ token, fault, outcome })),
    ),
  severity: 'warning',
  subject: ({ token }) => `issuer ${token.issuer}`,
  rows: [
    {
      id: 'assertion-not-sent',
      when: ({ fault }) => fault !== undefined,
      seen: ({ fault = '' }) => fault,
      why: 'The issuer would refuse it, so it was not sent. The client uses its other credentials for now; calls will fail when those expire or are revoked.',
      fix: unsentFix,
    },
    {
      id: 'assertion-refused',
      when: ({ outcome }) => outcome === 'refused',
      seen: ({ token }) =>
        `The issuer refuses the assertion, but accepts another client in the list. ${signersOf(token)}`.trim(),
      why: 'Calls will fail when the other credentials expire or are revoked.',
      fix: ({ token }) => refusedFix(token),
    },
  ],
})

/** Finds secrets that an issuer refuses, or accepts beside another client: a rotation is not finished, or would fail. */
export const checkSecrets: Check = table({
  cases: ({ tokens }) =>
    tokens.flatMap(({ issuer, clients = [] }) => {
      const secrets = clients.filter(({ assertion }) => assertion === undefined)
      const accepted = secrets.filter(({ outcome }) => outcome === 'accepted').length
      const refused = secrets.findIndex(({ outcome }) => outcome === 'refused')
      const isProved = clients.some((one) => one.assertion !== undefined && one.outcome === 'accepted')
      const one = { issuer, all: secrets.length, accepted, refused }
      // beside an assertion that works, a secret may be dropped, and may be one of several
      return [
        ...(isProved && accepted > 0 ? [{ ...one, isDroppable: true }] : []),
        { ...one, isDroppable: false },
      ]
    }),
  severity: 'warning',
  subject: ({ issuer }) => `issuer ${issuer}`,
  rows: [
    {
      id: 'secret-droppable',
      severity: 'info',
      when: ({ isDroppable }) => isDroppable,
      seen: 'The issuer accepts the assertion as well as the secret.',
      why: 'The secret is not needed any more.',
      fix: `Put the assertion first in the list in every process, then revoke the secret at the issuer: ${guide}/workload-identity.md#drop-the-secret-in-three-steps.`,
    },
    {
      id: 'secrets-both-live',
      when: ({ accepted }) => accepted > 1,
      seen: ({ accepted, all }) => `The issuer accepts ${accepted} of the ${all} secrets.`,
      why: 'The rotation is not finished, and an old secret that still works can be misused.',
      fix: 'When every process has the new secret, revoke the old one at the issuer and remove it here.',
    },
    {
      id: 'secret-refused',
      when: ({ refused }) => refused >= 0,
      seen: ({ refused, all }) => `The issuer refuses secret ${refused + 1} of ${all}, but accepts another.`,
      why: ({ refused }) =>
        refused === 0
          ? 'The old secret no longer works: every new process tries it first, and is refused.'
          : 'If it is the next secret, calls will fail when the current one expires.',
      fix: ({ refused }) =>
        refused === 0
          ? 'Put the newer secret first, and remove the old one.'
          : 'If it is the next secret, copy it again. If it is the old one, remove it.',
    },
  ],
})
