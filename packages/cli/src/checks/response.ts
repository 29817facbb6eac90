import { type Check, row, together } from './finding.ts'

const checkScopes: Check = row({
  cases: ({ events }) => events.flatMap((event) => (event.type === 'scope.narrowed' ? [event] : [])),
  severity: 'warning',
  subject: ({ issuer }) => `issuer ${issuer}`,
  id: 'scope-narrowed',
  seen: ({ missing }) =>
    `The token response names its scopes, and these are not among them: ${missing.join(' ')}.`,
  why: 'APIs refuse the calls that need them, mostly with status 403.',
  fix: 'Ask the operator of the issuer to allow this client these scopes, or take them out of `scope`.',
})

const checkUnusual: Check = row({
  cases: ({ events }) => events.flatMap((event) => (event.type === 'token.unusual' ? [event] : [])),
  severity: 'info',
  subject: ({ issuer }) => `issuer ${issuer}`,
  id: 'token-unusual',
  seen: ({ oddities }) => `The token response has ${oddities.join(', ')}.`,
  why: 'RFC 6749 §5.1 has it otherwise. The token is used all the same, and sent as Bearer.',
  fix: 'None is needed while calls succeed. `tokenTypes` of the issuer refuses tokens of other types.',
})

const checkLifetimes: Check = row({
  cases: ({ tokens, configuration }) =>
    tokens.flatMap(({ issuer, lifetime }) => {
      const margin = configuration.issuers.find(({ name }) => name === issuer)?.renewBefore
      return lifetime === undefined || margin === undefined || lifetime >= 2 * margin
        ? []
        : [{ issuer, lifetime, margin }]
    }),
  severity: 'warning',
  subject: ({ issuer }) => `issuer ${issuer}`,
  id: 'lifetime-short',
  seen: ({ lifetime, margin }) =>
    `A token lives for ${Math.round(lifetime / 1_000)} s, but \`renewBefore\` is ${Math.round(margin / 1_000)} s. Half of the lifetime is used instead.`,
  why: 'Tokens are requested more often than expected.',
  fix: ({ lifetime }) =>
    `Set \`renewBefore\` to ${Math.floor(lifetime / 4)} (milliseconds) or less, or remove it.`,
})

export const checkResponses: Check = together(checkLifetimes, checkScopes, checkUnusual)
