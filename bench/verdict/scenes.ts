import { setTimeout as sleep } from 'node:timers/promises'

import type { Peer } from '../support/peer.ts'

/** What a scene plays with. */
interface Stage {
  readonly peer: Peer
  /** URL of one record, another one each time. */
  readonly nextUrl: () => string
  /** Calls a control function of the sandbox. */
  readonly control: (name: string, parameters: object) => Promise<void>
}

/** What happens to a client. */
export interface Scene {
  /** Heading of its column. */
  readonly heading: string
  /** How the sandbox is started. */
  readonly tokenLifetime?: number
  readonly quota?: number
  readonly play: (stage: Stage) => Promise<void>
}

const failed = (): number => 0

async function together({ peer, nextUrl }: Stage, calls: number): Promise<void> {
  await Promise.all(Array.from({ length: calls }, () => peer.call(nextUrl()).catch(failed)))
}

/** Callers that call again a moment after each response. */
async function callersFor({ peer, nextUrl }: Stage, ms: number, callers: number): Promise<void> {
  const end = performance.now() + ms
  const caller = async (): Promise<void> => {
    while (performance.now() < end) {
      await peer.call(nextUrl()).catch(failed)
      await sleep(25)
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
}

export const scenes: Readonly<Record<string, Scene>> = {
  start: {
    heading: '50 first calls at once',
    play: (stage) => together(stage, 50),
  },
  expiry: {
    heading: 'tokens of 4 s, 10 callers for 9 s',
    tokenLifetime: 4_000,
    play: (stage) => callersFor(stage, 9_000, 10),
  },
  revocation: {
    heading: 'token revoked, 10 callers for 2 s',
    async play(stage) {
      await together(stage, 1)
      const calling = callersFor(stage, 2_000, 10)
      await sleep(500)
      await stage.control('revoke-tokens', {})
      await calling
    },
  },
  outage: {
    heading: 'issuer down for 2 s after a revocation, 10 callers',
    async play(stage) {
      await together(stage, 1)
      await stage.control('kill-issuer', { issuer: 'weblink', for: 2_000 })
      await stage.control('expire-tokens', {})
      await callersFor(stage, 3_000, 10)
    },
  },
  rate: {
    heading: '60 calls at once, then 5 callers for 1 s; 25 a second allowed',
    quota: 25,
    async play(stage) {
      await together(stage, 1)
      await together(stage, 59)
      await sleep(300)
      await callersFor(stage, 1_000, 5)
    },
  },
}
