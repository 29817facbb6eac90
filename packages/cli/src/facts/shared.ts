import { randomUUID } from 'node:crypto'

import type { Inspection } from '@tokenlane/core/adapter'
import type { Claim, SharedServer } from '@tokenlane/core/fleet'

import type { Application } from '../application/application.ts'
import { type Connections, isOfRedis } from '../application/connections.ts'
import { failureCode } from '../failure-code.ts'

/** The outcome of a trial of the shared token store or the shared rate limiter. */
export interface SharedFacts {
  readonly part: 'token store' | 'rate limiter'
  /** What the server behind it reports, if the store or limiter can ask it. */
  readonly server?: SharedServer
  /** The step that failed, such as `writing an entry`. */
  readonly failedAt?: string
  /** Why it failed: a code such as `NOPERM`, or what the store did wrong. */
  readonly failure?: string
  /** The connection to Redis that explains the failure. */
  readonly connection?: Connections
  /** Set if the application's module fails with it, so that nothing was tried. */
  readonly endsModule?: boolean
}

/** How long each step may take, in milliseconds. */
const longest = 5_000

/** Tries out the application's store and limiter under names that only the doctor uses, and returns the outcomes. */
export async function lookAtShared({
  inspection: { store, limiter },
  connections,
}: Pick<Application, 'inspection' | 'connections'>): Promise<SharedFacts[]> {
  const facts = await Promise.all([
    ...(store ? [look('token store', (step) => tryStore(store, step), store.server?.bind(store))] : []),
    ...(limiter ? [look('rate limiter', (step) => tryLimiter(limiter, step), limiter.server)] : []),
  ])
  // a client that reconnects reports its failures to the application alone, and keeps commands waiting meanwhile
  const connection = connections().find((one) => isOfRedis(one) && one.outcome !== 'open')
  return facts.map((one) => explainedBy(one, connection))
}

function explainedBy(facts: SharedFacts, connection: Connections | undefined): SharedFacts {
  return facts.failure !== undefined && connection !== undefined ? { ...facts, connection } : facts
}

/** Runs one step of a trial and returns its result. Rejects if it takes too long. */
type Step = <T>(name: string, act: () => T | Promise<T>) => Promise<T>

/** Thrown if a store breaks its contract or a limiter fails. The message says how. */
class Failed extends Error {}

async function look(
  part: SharedFacts['part'],
  trial: (step: Step) => Promise<void>,
  askServer: (() => Promise<SharedServer>) | undefined,
): Promise<SharedFacts> {
  let failedAt = 'starting the test'
  const step: Step = async (name, act) => {
    failedAt = name
    return inTime(async () => act())
  }
  try {
    await trial(step)
  } catch (error) {
    return { part, failedAt, failure: error instanceof Failed ? error.message : failureCode(error) }
  }
  // a store or limiter that cannot report its server is not a fault
  const server = askServer && (await inTime(askServer).catch(() => undefined))
  return { part, ...(server && { server }) }
}

async function inTime<T>(act: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const error = Object.assign(new Error('no response in time'), { code: 'ETIMEDOUT' })
    timer = setTimeout(() => reject(error), longest)
  })
  return Promise.race([act(), late]).finally(() => clearTimeout(timer))
}

async function tryStore(store: NonNullable<Inspection['store']>, step: Step): Promise<void> {
  const name = `doctor-${randomUUID()}`
  const entry = randomUUID()
  const claim = await step('claiming a name', () => store.claim(name, undefined, longest))
  if (claim === 'locked' || !('fence' in claim)) throw new Failed('a new name is already locked')
  await step('writing an entry', () => store.write(name, claim.fence, entry, longest))
  const found = await step('reading an entry', () => store.claim(name, undefined, longest))
  if (found === 'locked' || !('entry' in found) || found.entry !== entry)
    throw new Failed('the entry that was written was not found')
  await step('removing an entry', () => store.drop(name, entry))
}

const trialClaim: Claim = {
  key: '',
  cost: 1,
  limits: [{ series: '', quota: 1, window: 100 }],
  interval: 0,
  accounting: 'strict',
  unansweredGrace: undefined,
}

/** Takes one permit from a budget that only the doctor uses, and gives it back; rejects without a permit. */
async function tryLimiter(create: NonNullable<Inspection['limiter']>, step: Step): Promise<void> {
  const granted = Promise.withResolvers<void>()
  let isOver = false
  let failure: string | undefined
  const limiter = create({
    baseUrl: 'https://doctor.tokenlane.invalid/',
    unitsAvailable: ask,
    heard() {},
    counted() {},
    // the trial goes on: a server that is slow to connect may still recover
    failed: (reason) => (failure = reason),
    recovered: granted.resolve,
  })
  try {
    ask()
    await step('asking for a permit', () => granted.promise)
  } catch (error) {
    throw failure === undefined ? error : new Failed(failure)
  } finally {
    isOver = true
    await limiter.close()
  }

  function ask(): void {
    if (isOver) return
    const outcome = limiter.take(trialClaim, 1)
    if (typeof outcome === 'number') {
      if (outcome < Infinity) setTimeout(ask, outcome)
      return
    }
    outcome.cancel()
    // after a failure the permit comes from the process's own share, not from the server
    if (failure === undefined) granted.resolve()
  }
}
