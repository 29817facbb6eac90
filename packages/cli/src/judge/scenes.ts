import { readFileSync } from 'node:fs'

import type { Realm, Sandbox, ScenarioStep } from '@tokenlane/sandbox'

import { callers } from './environment.ts'
import type { Scene, Stage } from './scene.ts'

const realms: readonly Realm[] = ['general', 'weblink']
const quota = 10

/** Returns a step for each issuer, or for each API. One that slows issuers by 0 shows a program that never pauses. */
const atIssuers = (step: ScenarioStep): ScenarioStep[] => realms.map((issuer) => ({ ...step, issuer }))
const atApis = (step: ScenarioStep): ScenarioStep[] => realms.map((api) => ({ ...step, api }))

const mostAtOnce = ({ sandbox }: Stage): number =>
  Math.max(...realms.map((api) => sandbox.control.counts().apis[api].maxConcurrent))

const has = ({ sandbox }: Stage, decision: 'failed' | 'limited'): boolean =>
  sandbox.control.journal({ decision, limit: 1 }).length > 0

const faultMet = (stage: Stage): string | undefined =>
  has(stage, 'failed') ? undefined : 'no token request was made while the issuers failed'

function dropSecrets({ control }: Sandbox): void {
  for (const realm of realms) control.dropSecrets(realm)
}

/** Waits until the file with the assertion for an issuer has been replaced. */
async function fileReplaced(stage: Stage, issuer: Realm): Promise<void> {
  const text = (): string => readFileSync(stage.assertionFile(issuer), 'utf8')
  const before = text()
  await stage.until(() => text() !== before, 60_000)
}

const neverProved = ({ sandbox: { control }, before }: Stage): string | undefined => {
  if (realms.some((realm) => control.counts().issuers[realm].issued > 0)) return undefined
  const refusal = [...before, ...control.journal()].findLast(
    ({ target, decision }) => target.endsWith('-issuer') && decision === 'refused',
  )
  return `no token was obtained with the assertion in the file${refusal ? `; the issuer's reason: ${refusal.reason}` : ''}`
}

/** Every scene, in the order in which they are played. */
export const scenes: readonly Scene[] = [
  {
    name: 'cold-start',
    title: 'many calls at once, with no token yet',
    prepare({ control }) {
      for (const realm of realms) {
        control.slowIssuer(realm, 300)
        control.slowApi(realm, 50)
      }
    },
    async play(stage) {
      await stage.answers(2 * callers, 10_000)
      await stage.pause(500)
    },
    impossible: (stage) =>
      mostAtOnce(stage) < callers / 2
        ? `at most ${mostAtOnce(stage)} of ${callers} calls were under way at once`
        : undefined,
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
    async play(stage) {
      const { control } = stage.sandbox
      await stage.begin()
      for (const realm of realms) control.rotateSecret(realm, { overlap: true })
      stage.writeCredentials()
      control.revokeTokens()
      await stage.answers(callers, 5_000)
      for (const realm of realms) control.dropOldSecrets(realm)
      control.revokeTokens()
    },
  },
  {
    name: 'rotation',
    title: 'the secret is rotated; the old one is refused immediately',
    async play(stage) {
      const { control } = stage.sandbox
      await stage.begin()
      for (const realm of realms) control.rotateSecret(realm)
      stage.writeCredentials()
      control.revokeTokens()
    },
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
    async play(stage) {
      await stage.begin()
      for (const realm of realms) stage.sandbox.control.slowIssuer(realm, 2_000)
      stage.sandbox.control.revokeTokens()
      await stage.answers(callers, 6_000)
    },
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
    unseen: (stage) => (has(stage, 'limited') ? undefined : 'no call was answered with 429'),
  },
  {
    name: 'refused-token',
    title: 'the APIs refuse even new tokens for 2.5 s',
    hopeless: true,
    steps: atApis({ after: 0, do: 'failApi', status: 401 }),
    lasts: 2_500,
  },
  {
    name: 'two-issuers',
    title: 'one issuer is down for 2.5 s while the other works',
    async play(stage) {
      const { control } = stage.sandbox
      await stage.begin()
      if (stage.inUse().length < 2) return
      control.killIssuer('general')
      control.revokeTokens('general')
      // calls that were under way before
      await stage.pause(500)
      const before = stage.answered('weblink')
      await stage.pause(2_000)
      if (stage.answered('weblink') > before) return
      stage.report({
        rule: 'both-stopped',
        severity: 'error',
        message: 'For 2 s no call to the weblink API was answered, while only the general issuer was down',
        fix: "Keep a separate token, lock and failure state for each issuer: one issuer must not delay another's calls.",
        evidence: [],
        count: 1,
      })
    },
    impossible: (stage) => (stage.inUse().length < 2 ? 'only one of the two APIs was called' : undefined),
  },
  {
    name: 'redirect',
    title: 'the general API redirects to another host',
    async play(stage) {
      const { control, weblinkUrl } = stage.sandbox
      await stage.begin()
      // localhost is another host than 127.0.0.1
      const { port } = new URL(weblinkUrl)
      const location = `https://localhost:${port}/outside/`
      control.failApi('general', { status: 307, location, times: 5 })
      await stage.pause(1_000)
    },
    impossible: (stage) => (stage.inUse().includes('general') ? undefined : 'the general API was not called'),
  },
  {
    name: 'refused-client',
    title: 'the issuers refuse the client (invalid_client) for 3 s',
    hopeless: true,
    prepare({ control }) {
      for (const issuer of realms) {
        control.slowIssuer(issuer, 0)
        control.failIssuer(issuer, { status: 401 })
      }
    },
    play: (stage) => stage.pause(3_000),
  },
  {
    name: 'assertion-swap',
    title: 'no secret; the assertion file is replaced twice',
    assertionLifetime: 10_000,
    prepare: dropSecrets,
    async play(stage) {
      await stage.begin()
      const replaceTwice = async (issuer: Realm): Promise<void> => {
        await fileReplaced(stage, issuer)
        await fileReplaced(stage, issuer)
        // what was in the file at the beginning has expired, and what is in it now is new
        stage.sandbox.control.revokeTokens(issuer)
      }
      await Promise.all(realms.map(replaceTwice))
      await stage.pause(1_500)
    },
    impossible: neverProved,
  },
  {
    name: 'assertion-key-rotation',
    title: 'no secret; the cluster signs assertions with a new key',
    assertionLifetime: 600_000,
    prepare: dropSecrets,
    steps: [...atIssuers({ after: 0, do: 'rotateClusterKeys' }), { after: 0, do: 'revokeTokens' }],
    lasts: 100,
    impossible: neverProved,
  },
  {
    name: 'secret-to-assertion',
    title: 'the secret is dropped; only the assertion is accepted',
    assertionLifetime: 600_000,
    async play(stage) {
      const { control } = stage.sandbox
      await stage.begin()
      dropSecrets(stage.sandbox)
      control.revokeTokens()
      await stage.answers(callers, 5_000)
    },
    unseen: ({ sandbox: { control } }) =>
      realms.some((realm) => control.counts().issuers[realm].refused > 0)
        ? undefined
        : 'the program did not send its secret',
  },
]

/** The scenes that are played unless others are named: those whose programs prove themselves by a secret. */
export const usualScenes: readonly Scene[] = scenes.filter(
  ({ assertionLifetime }) => assertionLifetime === undefined,
)
