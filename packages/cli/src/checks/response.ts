import { type Check, table } from './finding.ts'

/** Finds issuers that granted fewer scopes than were asked for. */
export const checkScopes: Check = table({
  cases: ({ events }) => events.flatMap((event) => (event.type === 'scope.narrowed' ? [event] : [])),
  severity: 'warning',
  subject: ({ issuer }) => `issuer ${issuer}`,
  rows: [
    {
      id: 'scope-narrowed',
      seen: ({ missing }) =>
        `The token response names its scopes, and these are not among them: ${missing.join(' ')}.`,
      why: 'APIs refuse the calls that need them, mostly with status 403.',
      fix: 'Ask the operator of the issuer to allow this client these scopes, or take them out of `scope`.',
    },
  ],
})

/** Finds issuers whose token responses are not as the standard has them. */
export const checkResponses: Check = table({
  cases: ({ events }) => events.flatMap((event) => (event.type === 'token.unusual' ? [event] : [])),
  severity: 'info',
  subject: ({ issuer }) => `issuer ${issuer}`,
  rows: [
    {
      id: 'token-unusual',
      seen: ({ oddities }) => `The token response has ${oddities.join(', ')}.`,
      why: 'RFC 6749 §5.1 has it otherwise. The token is used all the same, and sent as Bearer.',
      fix: 'None is needed while calls succeed. `tokenTypes` of the issuer refuses tokens of other types.',
    },
  ],
})
