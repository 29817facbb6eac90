import { Random } from '@tokenlane/testing/random'
import { setTimeout as sleep } from 'node:timers/promises'

import { clientNames, type Call, type ClientName, type Kind, type Realm } from './call.ts'
import type { Request, Send } from './clients.ts'
import { outcomeOfError, outcomeOfStatus } from './outcome.ts'

/** What callers need, and where they say how their calls ended. */
export interface Scene {
  readonly seed: number
  readonly send: Record<ClientName, Send>
  readonly apis: Record<Realm, string>
  /** URLs that belong to no API. */
  readonly outside: readonly string[]
  readonly until: number
  started(call: Call): void
  ended(call: Call, outcome: string, began: number, error?: unknown): void
}

const callersOfEachClient = 4

const kinds: readonly Kind[] = [
  ...Array<Kind>(5).fill('read'),
  ...Array<Kind>(3).fill('write'),
  'stream',
  'redirect',
  'redirect-write',
  'redirect-out',
]

/** A call that has not ended after this time never will, in milliseconds. */
const longestCall = 120_000

let lastId = 0

/** Resolves when every call has ended. */
export async function runCallers(scene: Scene): Promise<void> {
  const callers = clientNames.flatMap((client, of) =>
    Array.from({ length: callersOfEachClient }, (_, index) =>
      keepCalling(scene, client, new Random(scene.seed * 100 + of * callersOfEachClient + index)),
    ),
  )
  await Promise.all(callers)
}

/** The choices of a caller come from its own numbers, so that they do not depend on the others' pace. */
async function keepCalling(scene: Scene, client: ClientName, random: Random): Promise<void> {
  while (performance.now() < scene.until) {
    const kind = random.pick(kinds)
    const weblink = random.chance(0.35)
    // axios' redirect hops take no unit of a limit, as its table of limits says
    const realm = weblink && !(client === 'axios' && kind.startsWith('redirect')) ? 'weblink' : 'general'
    const patience = random.chance(0.03) ? random.whole(1, 1_500) : undefined
    const call: Call = { id: `c${(lastId += 1)}`, client, realm, kind }
    await make(scene, call, requestOf(scene, call, random), patience)
    await sleep(random.whole(0, 150))
  }
}

function requestOf({ apis, outside }: Scene, { id, realm, kind }: Call, random: Random): Request {
  const base = apis[realm]
  const redirect = (to: string, status: number): string =>
    `${base}redirect/${id}?status=${status}&to=${encodeURIComponent(to)}`
  const delay = random.chance(0.1) ? random.whole(1, 400) : 0
  const requests: Record<Kind, Request> = {
    read: { method: 'GET', stream: false, url: `${base}slow/${id}?ms=${delay}` },
    write: { method: 'POST', stream: false, url: `${base}echo/${id}` },
    stream: { method: 'POST', stream: true, url: `${base}echo/${id}` },
    redirect: { method: 'GET', stream: false, url: redirect(`${base}slow/${id}/hop?ms=0`, 302) },
    'redirect-write': { method: 'POST', stream: false, url: redirect(`${base}echo/${id}/hop`, 307) },
    'redirect-out': { method: 'GET', stream: false, url: redirect(random.pick(outside), 302) },
  }
  return requests[kind]
}

async function make(scene: Scene, call: Call, request: Request, patience?: number): Promise<void> {
  const began = performance.now()
  const signal = patience === undefined ? undefined : AbortSignal.timeout(patience)
  scene.started(call)
  const watchdog = new AbortController()
  const never = sleep(longestCall, 'never ended', { signal: watchdog.signal }).catch(() => 'ended')
  const sent = scene.send[call.client]({ ...request, ...(signal && { signal }) }).then(
    (status) => ({ outcome: outcomeOfStatus(status), error: undefined }),
    (error: unknown) => ({
      outcome: signal?.aborted === true ? 'given up by its caller' : outcomeOfError(error),
      error,
    }),
  )
  const first = await Promise.race([sent, never])
  watchdog.abort()
  if (typeof first === 'string') scene.ended(call, first, began)
  else scene.ended(call, first.outcome, began, first.error)
}
