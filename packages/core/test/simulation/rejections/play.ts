import { Random } from '../../../../../tools/testing/src/random.ts'
import { sharedStore } from '../../../src/fleet.ts'
import { createTokenManager, type Api } from '../../../src/index.ts'
import { MemoryStore } from '../../memory-store.ts'
import { VirtualClock } from '../virtual-clock.ts'
import { RefusingService } from './refusing-service.ts'
import type { Scene } from './scenes.ts'

/** What became of the calls of a scene. */
export interface Outcome {
  readonly calls: number
  /** Calls whose caller got a 401, in percent. */
  readonly lost: number
  /** Token requests of one process at one issuer in the minute that has most of them. */
  readonly requests: number
  /** Sends that were not the first of their call, for each call. */
  readonly extraSends: number
  readonly mostSends: number
  /** Of a call, in milliseconds. */
  readonly longest: number
  readonly mean: number
}

const urlOf = (issuer: string): string => `https://${issuer}.example.com/`

/** Plays a scene in its own time, with the library as it is. The same seed draws the same. */
export async function play(scene: Scene, seed: number): Promise<Outcome> {
  const clock = new EncryptingClock()
  const drawn = Math.random
  clock.install()
  Math.random = new Random(seed + 1).next
  try {
    return await run(scene, clock, new Random(seed))
  } finally {
    Math.random = drawn
    clock.uninstall()
  }
}

async function run(scene: Scene, clock: VirtualClock, random: Random): Promise<Outcome> {
  const { processes = 1, rate = 20, seconds = 60, burst, isShared = false, wallAhead = 0 } = scene
  clock.setWall(wallAhead)
  const service = new RefusingService(clock, random, scene)
  const store = isShared ? sharedStore(new MemoryStore()) : undefined
  const managers = Array.from({ length: processes }, () => managerOf(service, scene, store))
  // what the first token request loads comes in no time of this clock
  const warm = ended(managers.map((manager) => manager.warmUp()))
  while (!warm.all) {
    await clock.settle()
    await clock.pass(1)
  }
  const totals = { calls: 0, lost: 0, sends: 0, mostSends: 0, longest: 0, time: 0 }
  const call = async (process: number): Promise<void> => {
    const start = clock.now
    const place = service.nextPlace()
    let sends = 0
    totals.calls += 1
    const api = managers[process]?.route(urlOf(place.issuer)) as Api
    const status = await api.send(async (authorization) => {
      sends += 1
      const head = await service.call(place, authorization)
      return { ...head, result: head.status, discard() {} }
    })
    if (status === 401) totals.lost += 1
    totals.sends += sends
    totals.mostSends = Math.max(totals.mostSends, sends)
    totals.longest = Math.max(totals.longest, clock.now - start)
    totals.time += clock.now - start
  }
  const end = clock.now + seconds * 1_000
  for (let made = 0; clock.now < end; made += 1) {
    const calls = ended(Array.from({ length: burst ?? 1 }, () => call(made % processes)))
    await clock.settle()
    if (burst !== undefined) await clock.pass(10_000)
    else if (rate > 0) await clock.pass((1_000 / rate / processes) * (0.5 + random.next()))
    else while (!calls.all) await clock.pass(1)
  }
  await clock.pass(60_000)
  const { calls, lost, sends, mostSends, longest, time } = totals
  return {
    calls,
    lost: (100 * lost) / calls,
    requests: Math.max(...Object.values(service.requests).map(busiestMinute)) / processes,
    extraSends: sends / calls - 1,
    mostSends,
    longest,
    mean: time / calls,
  }
}

function managerOf(
  { fetch }: RefusingService,
  { wrongIssuers, renewBefore }: Scene,
  store: ReturnType<typeof sharedStore> | undefined,
): ReturnType<typeof createTokenManager> {
  const credentials = { clientId: 'client', clientSecret: 'secret' }
  const isSwapped = wrongIssuers === 'both'
  const names = isSwapped ? ['general', 'other'] : ['general']
  return createTokenManager({
    issuers: Object.fromEntries(
      names.map((name) => [
        name,
        {
          tokenEndpoint: `https://auth.example.com/${name}`,
          credentials,
          ...(renewBefore !== undefined && { renewBefore }),
        },
      ]),
    ),
    apis: [
      { baseUrl: urlOf('general'), issuer: isSwapped ? 'other' : 'general' },
      { baseUrl: urlOf('other'), issuer: 'general' },
    ],
    fetch,
    ...(store && { store }),
  })
}

/** Returns whether all of these have ended, from then on. */
function ended(works: readonly Promise<unknown>[]): { all: boolean } {
  const state = { all: false }
  void Promise.all(works).then(() => (state.all = true))
  return state
}

function busiestMinute(times: readonly number[]): number {
  return Math.max(0, ...times.map((end) => times.filter((at) => at <= end && at > end - 60_000).length))
}

const ciphers = ['importKey', 'deriveBits', 'deriveKey', 'encrypt', 'decrypt'] as const

/** Lets no time pass while something is encrypted for a store, which takes none. */
class EncryptingClock extends VirtualClock {
  #underWay = 0

  override install(): void {
    super.install()
    const { subtle } = globalThis.crypto
    for (const name of ciphers) {
      const original = subtle[name].bind(subtle) as (...given: unknown[]) => Promise<unknown>
      const counted = async (...given: unknown[]): Promise<unknown> => {
        this.#underWay += 1
        return original(...given).finally(() => (this.#underWay -= 1))
      }
      Object.defineProperty(subtle, name, { value: counted, configurable: true })
    }
  }

  override uninstall(): void {
    super.uninstall()
    for (const name of ciphers) Reflect.deleteProperty(globalThis.crypto.subtle, name)
  }

  override async settle(): Promise<void> {
    do await super.settle()
    while (this.#underWay > 0)
  }
}
