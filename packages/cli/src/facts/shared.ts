import { randomUUID } from 'node:crypto'

import type { Inspection, SharedServer } from '@tokenlane/core/adapter'

import { failureCode } from '../failure-code.ts'

/** What became of a trial of the token store or of the rate limiter that processes share. */
export interface SharedFacts {
  readonly part: 'token store' | 'rate limiter'
  /** What the server behind it says, where it says something. */
  readonly server?: SharedServer
  /** What was tried when it failed, such as `writing an entry`. */
  readonly failedAt?: string
  /** Why: a code such as `NOPERM`, or what the store did. */
  readonly failure?: string
}

/** How long each step may take, in milliseconds. */
const longest = 3_000

/** Tries out the store and the limiter of an application, under names of the doctor's own. */
export async function lookAtShared({ store, limiter }: Inspection): Promise<SharedFacts[]> {
  return Promise.all([
    ...(store ? [look('token store', (step) => tryStore(store, step), store.server?.bind(store))] : []),
    ...(limiter ? [look('rate limiter', (step) => tryLimiter(limiter, step), limiter.server)] : []),
  ])
}

/** Runs one step of a trial, within its time. */
type Step = <T>(name: string, act: () => T | Promise<T>) => Promise<T>

/** What a store or a limiter did in place of what its contract says. */
class Failed extends Error {}

async function look(
  part: SharedFacts['part'],
  trial: (step: Step) => Promise<void>,
  askServer: (() => Promise<SharedServer>) | undefined,
): Promise<SharedFacts> {
  let failedAt = 'starting the trial'
  const step: Step = async (name, act) => {
    failedAt = name
    return inTime(async () => act())
  }
  try {
    await trial(step)
  } catch (error) {
    return { part, failedAt, failure: error instanceof Failed ? error.message : failureCode(error) }
  }
  // what says nothing of its server is only less to look at
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

/** Writes an entry, reads it and removes it. */
async function tryStore(store: NonNullable<Inspection['store']>, step: Step): Promise<void> {
  const name = `doctor-${randomUUID()}`
  const entry = randomUUID()
  const claim = await step('claiming a name', () => store.claim(name, undefined, longest))
  if (claim === 'locked' || !('fence' in claim)) throw new Failed('a new name is taken')
  await step('writing an entry', () => store.write(name, claim.fence, entry, longest))
  const found = await step('reading an entry', () => store.claim(name, undefined, longest))
  if (found === 'locked' || !('entry' in found) || found.entry !== entry)
    throw new Failed('what was written is not there')
  await step('removing an entry', () => store.drop(name, entry))
}

/** Waits for one permit, of a budget that no API has, and gives it back. */
async function tryLimiter(create: NonNullable<Inspection['limiter']>, step: Step): Promise<void> {
  const granted = Promise.withResolvers<void>()
  let isOver = false
  let failure: string | undefined
  const limiter = create({
    baseUrl: 'https://doctor.tokenlane.invalid/',
    limits: [{ quota: 1, window: 100 }],
    spread: false,
    accounting: 'response',
    unitsAvailable: ask,
    paused() {},
    resumed() {},
    // a server that is slow to connect is reached in the end
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
    await limiter.close?.()
  }

  function ask(): void {
    if (isOver) return
    const outcome = limiter.take(1)
    if (typeof outcome === 'number') {
      if (outcome < Infinity) setTimeout(ask, outcome)
      return
    }
    outcome.cancel()
    // without the server a process grants itself a share
    if (failure === undefined) granted.resolve()
  }
}
