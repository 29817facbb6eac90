import type {
  Finding,
  JournalEntry,
  Realm,
  Sandbox,
  SandboxOptions,
  Scenario,
  ScenarioStep,
} from '@tokenlane/sandbox'

import { callers } from './program.ts'

export const realms: readonly Realm[] = ['general', 'weblink']
const quota = 10

/** Returns a step for each issuer, or for each API. One that slows issuers by 0 shows a program that never pauses. */
const atIssuers = (step: ScenarioStep): ScenarioStep[] => realms.map((issuer) => ({ ...step, issuer }))
const atApis = (step: ScenarioStep): ScenarioStep[] => realms.map((api) => ({ ...step, api }))

const has = ({ sandbox }: Seen, decision: 'failed' | 'limited'): boolean =>
  sandbox.control.journal({ decision, limit: 1 }).length > 0

const faultMet = (seen: Seen): string | undefined =>
  has(seen, 'failed') ? undefined : 'no token request was made while the issuers failed'

const readsNoFile = ({ readsFile }: Seen): string | undefined =>
  readsFile.length > 0
    ? undefined
    : 'the program takes the secret from its environment, which nothing can rotate; one that reads GENERAL_CREDENTIALS_FILE is graded'

export const scenes: readonly Scene[] = [
  {
    name: 'cold-start',
    title: 'many calls at once, with no token yet',
    isFromStart: true,
    steps: [
      ...atIssuers({ after: 0, do: 'slowIssuer', ms: 300 }),
      ...atApis({ after: 0, do: 'slowApi', ms: 50 }),
    ],
    lasts: 500,
    impossible({ sandbox }) {
      const { apis } = sandbox.control.counts()
      const most = Math.max(...realms.map((api) => apis[api].maxConcurrent))
      return most < callers / 2 ? `at most ${most} of ${callers} calls were under way at once` : undefined
    },
  },
  {
    name: 'expiry',
    title: 'tokens valid for 3 s expire while calls are made',
    sandbox: { tokenLifetime: 3_000 },
    // a client that renews minutes before expiry renews such a token for each call
    lenient: ['needless-renewal'],
    steps: [],
    lasts: 7_500,
  },
  {
    name: 'revocation',
    title: 'every token is revoked while calls are made',
    steps: [{ after: 0, do: 'revokeTokens' }],
    lasts: 1_500,
  },
  {
    name: 'rotation-overlap',
    title: 'the secret is rotated; the old one is accepted for a while',
    rotates: true,
    steps: [
      ...atIssuers({ after: 0, do: 'rotateSecret', overlap: true }),
      { after: 100, do: 'revokeTokens' },
      ...atIssuers({ after: 2_000, do: 'dropOldSecrets' }),
      { after: 2_000, do: 'revokeTokens' },
    ],
    lasts: 2_100,
    impossible: readsNoFile,
  },
  {
    name: 'rotation',
    title: 'the secret is rotated; the old one is refused immediately',
    rotates: true,
    steps: [...atIssuers({ after: 0, do: 'rotateSecret' }), { after: 100, do: 'revokeTokens' }],
    lasts: 200,
    impossible: readsNoFile,
  },
  {
    name: 'issuer-down',
    title: 'tokens are revoked, and the issuers are down for 2.5 s',
    steps: [
      ...atIssuers({ after: 0, do: 'slowIssuer', ms: 0 }),
      ...atIssuers({ after: 0, do: 'killIssuer' }),
      { after: 0, do: 'revokeTokens' },
    ],
    lasts: 2_500,
    unseen: faultMet,
  },
  {
    name: 'issuer-slow',
    title: 'tokens are revoked, and token requests take 2 s',
    steps: [...atIssuers({ after: 0, do: 'slowIssuer', ms: 2_000 }), { after: 0, do: 'revokeTokens' }],
    lasts: 4_000,
  },
  {
    name: 'issuer-nonsense',
    title: 'tokens are revoked, and token responses are garbage for 2.5 s',
    steps: [
      { after: 0, do: 'revokeTokens' },
      ...atIssuers({ after: 0, do: 'slowIssuer', ms: 0 }),
      ...[
        { body: '<html>Sign in</html>', contentType: 'text/html' },
        { body: {} },
        { body: { token_type: 'Bearer', expires_in: 3600 } },
      ].flatMap((body, index) => atIssuers({ after: 830 * index, do: 'failIssuer', status: 200, ...body })),
    ],
    lasts: 2_490,
    unseen: faultMet,
  },
  {
    name: 'rate-limit',
    title: `each API allows ${quota} calls a second, and the program knows it`,
    variables: { CALLS_PER_SECOND: `${quota}` },
    steps: atApis({ after: 0, do: 'setRatePolicy', policy: { limits: [{ quota, window: 1_000 }] } }),
    lasts: 4_000,
    unseen({ sandbox }) {
      const { apis } = sandbox.control.counts()
      const most = Math.max(...realms.flatMap((api) => apis[api].maxInWindow))
      return most < quota / 3 ? `at most ${most} of ${quota} calls were made in any second` : undefined
    },
  },
  {
    name: 'retry-after',
    title: 'the APIs suddenly respond 429 with Retry-After for 3 s',
    exempt: ['over-limit'],
    steps: atApis({ after: 0, do: 'setRatePolicy', policy: { limits: [{ quota: 5, window: 2_000 }] } }),
    lasts: 3_000,
    unseen: (seen) => (has(seen, 'limited') ? undefined : 'no call was answered with 429'),
  },
  {
    name: 'refused-token',
    title: 'the APIs refuse even new tokens for 2.5 s',
    isHopeless: true,
    steps: atApis({ after: 0, do: 'failApi', status: 401 }),
    lasts: 2_500,
  },
  {
    name: 'two-issuers',
    title: 'one issuer is down for 2.5 s while the other works',
    steps: [
      { after: 0, do: 'killIssuer', issuer: 'general' },
      { after: 0, do: 'revokeTokens', issuer: 'general' },
    ],
    lasts: 2_500,
    broken({ sandbox, begunAt }) {
      // calls that were under way before
      const from = new Date(begunAt.getTime() + 500).toISOString()
      const answered = sandbox.control.journal({ target: 'weblink-api', decision: 'answered' })
      if (answered.some(({ at }) => at > from)) return undefined
      return {
        rule: 'both-stopped',
        severity: 'error',
        message: 'For 2 s no call to the weblink API was answered, while only the general issuer was down',
        fix: "Keep a separate token, lock and failure state for each issuer: one issuer must not delay another's calls.",
        evidence: [],
        count: 1,
      }
    },
    impossible: ({ inUse }) => (inUse.length < 2 ? 'only one of the two APIs was called' : undefined),
  },
  {
    name: 'redirect',
    title: 'the general API redirects to another host',
    steps: ({ weblinkUrl }) => [
      {
        after: 0,
        do: 'failApi',
        api: 'general',
        status: 307,
        // localhost is another host than 127.0.0.1
        location: `https://localhost:${new URL(weblinkUrl).port}/outside/`,
        times: 5,
      },
    ],
    lasts: 1_000,
    impossible: ({ inUse }) => (inUse.includes('general') ? undefined : 'the general API was not called'),
  },
  {
    name: 'refused-client',
    title: 'the issuers refuse the client (invalid_client) for 3 s',
    isHopeless: true,
    isFromStart: true,
    steps: [
      ...atIssuers({ after: 0, do: 'slowIssuer', ms: 0 }),
      ...atIssuers({ after: 0, do: 'failIssuer', status: 401 }),
    ],
    lasts: 3_000,
  },
]

/** What was seen of a program, before the sandbox recovers. */
export interface Seen {
  readonly sandbox: Sandbox
  readonly before: readonly JournalEntry[]
  readonly begunAt: Date
  /** The APIs that have answered a call of the program. */
  readonly inUse: readonly Realm[]
  /** The issuers to which the program sends the secret of its file, and not that of the environment. */
  readonly readsFile: readonly Realm[]
}

/** What happens to the service while a program calls it: a scenario of the sandbox, and what is asked of the program. */
export interface Scene {
  readonly name: string
  readonly title: string
  readonly steps: Scenario['steps'] | ((sandbox: Sandbox) => Scenario['steps'])
  /** How long the program is watched from then on, in milliseconds. */
  readonly lasts: number
  /** Whether the steps come before the program starts, and what it does until it is in full swing counts. */
  readonly isFromStart?: true
  readonly sandbox?: SandboxOptions
  /** Variables whose values are others than in every scene. */
  readonly variables?: Readonly<Record<string, string>>
  /** Whether secrets are rotated: then the file has another one from the start, so that it shows which one the program sends. */
  readonly rotates?: true
  /** Rules that do not count here, because the scene itself breaks them. */
  readonly exempt?: readonly string[]
  readonly lenient?: readonly string[]
  /** Whether calls can never succeed, so that none is lost. */
  readonly isHopeless?: true
  /** Returns a finding that no rule of the sandbox makes. */
  readonly broken?: (seen: Seen) => Finding | undefined
  /** Returns why the scene could not be played with this program; `undefined` if it was. */
  readonly impossible?: (seen: Seen) => string | undefined
  /** Returns why nothing can be said about a program that broke no rule; `undefined` if something can. */
  readonly unseen?: (seen: Seen) => string | undefined
}
