import type { Random } from '@tokenlane/testing/random'
import { setTimeout as sleep } from 'node:timers/promises'

import type { SandboxControl } from '@tokenlane/sandbox'

import type { Realm } from './call.ts'
import { limits } from './policy.ts'
import type { ServiceProcess } from './service-process.ts'

/** The credentials that the application has, which follow a rotation after a while. */
type Credentials = Record<Realm, { clientId: string; clientSecret: string }>

interface Stage {
  readonly service: ServiceProcess
  readonly random: Random
  readonly credentials: Credentials
  /** The newest secret at each issuer, since rotations overlap. */
  readonly newest: Map<Realm, unknown>
  readonly realm: Realm
  /** How long the fault lasts, in milliseconds. */
  readonly span: number
}

type Control = <Name extends keyof SandboxControl>(
  name: Name,
  ...args: Parameters<SandboxControl[Name]>
) => Promise<unknown>

const controlOf =
  ({ service }: Stage): Control =>
  (name, ...args) =>
    service.ask('control', name, args)

/** Every form in which a server says when to come back, and none. */
function retryAfterOf({ random }: Stage): { retryAfter?: number | string } {
  const seconds = random.whole(1, 3)
  const at = new Date(Date.now() + seconds * 1_000)
  const epoch = Math.ceil(at.getTime() / 1_000)
  return random.pick([{}, { retryAfter: seconds }, { retryAfter: at.toUTCString() }, { retryAfter: epoch }])
}

async function rotate(stage: Stage, overlap: boolean): Promise<void> {
  const { realm, credentials, newest, span } = stage
  const control = controlOf(stage)
  const next = await control('rotateSecret', realm, { overlap })
  newest.set(realm, next)
  if (!overlap) await control('revokeTokens', realm)
  await sleep(span)
  if (newest.get(realm) !== next) return
  credentials[realm] = next as Credentials[Realm]
  // the token may live longer than the secret that brought it
  if (overlap) await control('revokeTokens', realm)
}

/** What can go wrong, by name; each is felt for `span`. */
const faults: Readonly<Record<string, (stage: Stage) => Promise<unknown>>> = {
  'link slow': ({ service, random, span }) =>
    service.ask('link', random.whole(0, 3), { delay: random.whole(10, 150), cut: 0 }, span),
  'link cut': ({ service, random, span }) =>
    service.ask('link', random.whole(0, 3), { delay: 0, cut: random.whole(2, 20) / 100 }, span),
  'link reset': ({ service, random }) => service.ask('reset', random.whole(0, 3)),
  'issuer 5xx': (stage) =>
    controlOf(stage)('failIssuer', stage.realm, {
      status: stage.random.pick([500, 502, 503]),
      for: stage.span,
      ...retryAfterOf(stage),
    }),
  'issuer down': (stage) => controlOf(stage)('killIssuer', stage.realm, { for: stage.span }),
  'issuer cut in mid-body': (stage) =>
    controlOf(stage)('killIssuer', stage.realm, { midBody: true, for: stage.span }),
  async 'issuer slow'(stage) {
    const control = controlOf(stage)
    await control('slowIssuer', stage.realm, { min: 100, max: 2_000 })
    await sleep(stage.span)
    await control('slowIssuer', stage.realm, 0)
  },
  'secret rotated, the old one refused': (stage) => rotate(stage, false),
  'secret rotated with an overlap': (stage) => rotate(stage, true),
  'API 401 at random': (stage) =>
    controlOf(stage)('failApi', stage.realm, {
      status: 401,
      percent: stage.random.whole(5, 50),
      for: stage.span,
    }),
  'tokens revoked': (stage) => controlOf(stage)('revokeTokens', stage.realm),
  'tokens expired early': (stage) => controlOf(stage)('expireTokens', stage.realm),
  'API 429 at random': (stage) =>
    controlOf(stage)('failApi', stage.realm, {
      status: 429,
      percent: stage.random.whole(2, 30),
      for: stage.span,
      ...retryAfterOf(stage),
    }),
  'API 503 at random': (stage) =>
    controlOf(stage)('failApi', stage.realm, {
      status: 503,
      percent: stage.random.whole(2, 30),
      for: stage.span,
      ...retryAfterOf(stage),
    }),
  'API cut': (stage) =>
    controlOf(stage)('killApi', stage.realm, { percent: stage.random.whole(2, 50), for: stage.span }),
  'API cut in mid-body': (stage) =>
    controlOf(stage)('killApi', stage.realm, {
      midBody: true,
      percent: stage.random.whole(2, 50),
      for: stage.span,
    }),
  async 'API slow'(stage) {
    const control = controlOf(stage)
    await control('slowApi', stage.realm, { min: 0, max: 1_500 })
    await sleep(stage.span)
    await control('slowApi', stage.realm, 0)
  },
  'other rate limit headers': (stage) =>
    controlOf(stage)('setRatePolicy', 'weblink', {
      limits,
      headers: stage.random.pick([
        [],
        ['ratelimit'],
        ['ratelimit-limit'],
        ['x-ratelimit'],
        ['x-ratelimit-seconds'],
      ]),
      retryAfter: stage.random.pick(['seconds', 'date', false]),
    }),
}

const names = Object.keys(faults)

export interface FaultPlan {
  readonly counts: Map<string, number>
  /** Whether one of the faults was felt at some time since `since`, on the clock of `performance.now()`. */
  feltSince(since: number, matching: RegExp): boolean
}

/** Begins one fault after the other, which overlap, until the time is over. */
export function playFaults(
  stage: Pick<Stage, 'service' | 'random' | 'credentials'>,
  until: number,
): FaultPlan & { readonly played: Promise<void> } {
  const { random } = stage
  const counts = new Map<string, number>()
  const felt = new Map<string, number>()
  const going = new Set<Promise<unknown>>()
  const newest = new Map<Realm, unknown>()

  const play = async (): Promise<void> => {
    while (performance.now() < until) {
      await sleep(random.whole(300, 3_000))
      const name = random.pick(names)
      const realm = random.pick(['general', 'weblink'] as const)
      const span = random.whole(200, 4_000)
      counts.set(name, (counts.get(name) ?? 0) + 1)
      felt.set(name, Math.max(felt.get(name) ?? 0, performance.now() + span))
      const fault = faults[name]!({ ...stage, newest, realm, span }).finally(() => going.delete(fault))
      going.add(fault)
    }
    await Promise.all(going)
  }
  return {
    counts,
    feltSince: (since, matching) => [...felt].some(([name, end]) => matching.test(name) && end >= since),
    played: play(),
  }
}
