// One storm over one peer, in a process of its own.
import { setTimeout as sleep } from 'node:timers/promises'

import { peers } from '../peers/all.ts'
import { orderGiven } from '../support/child.ts'
import { serviceBehind, type Peer } from '../support/peer.ts'
import { Service } from '../support/service.ts'

export interface StormOrder {
  readonly peer: string
  readonly storm: keyof typeof storms
}

export interface StormFigures {
  readonly tokenRequests: number
  /** Calls whose answer was no success, or that had none. */
  readonly lost: number
  readonly calls: number
  /** What the slowest call took, in milliseconds. */
  readonly slowest: number
}

class Storm {
  readonly service = new Service()
  readonly #peer: Peer
  #calls = 0
  #lost = 0
  #slowest = 0

  constructor(name: string) {
    const create = peers[name]
    if (create === undefined) throw new Error(`Cannot storm: no peer is called ${name}`)
    this.#peer = create(serviceBehind(this.service.fetch))
  }

  readonly call = async (): Promise<void> => {
    const start = performance.now()
    this.#calls += 1
    const status = await this.#peer.call().catch(() => 0)
    if (status !== 200) this.#lost += 1
    this.#slowest = Math.max(this.#slowest, performance.now() - start)
  }

  async together(calls: number): Promise<void> {
    await Promise.all(Array.from({ length: calls }, this.call))
  }

  /** Callers that call again as soon as they have an answer and a moment have passed. */
  async callersFor(ms: number, callers: number, moment: number): Promise<void> {
    const end = performance.now() + ms
    const caller = async (): Promise<void> => {
      while (performance.now() < end) {
        await this.call()
        await sleep(moment)
      }
    }
    await Promise.all(Array.from({ length: callers }, caller))
  }

  /** What is counted until now does not count. */
  forget(): void {
    this.service.tokenRequests = 0
    this.#calls = 0
    this.#lost = 0
    this.#slowest = 0
  }

  figures(): StormFigures {
    const { tokenRequests } = this.service
    return { tokenRequests, lost: this.#lost, calls: this.#calls, slowest: this.#slowest }
  }
}

const storms = {
  async first(storm: Storm) {
    await storm.together(10_000)
  },

  /** Over the end of one token's life, and not of the next. */
  async expiry(storm: Storm) {
    storm.service.lifetime = 4
    await storm.call()
    storm.service.lifetime = 3_600
    storm.forget()
    await storm.callersFor(5_000, 200, 20)
  },

  /** Answers to calls with the same token arrive over 800 ms, while the new one is there after 200. */
  async revocation(storm: Storm) {
    await storm.call()
    storm.service.revoke()
    storm.forget()
    let answers = 0
    storm.service.apiTakes = () => (answers++ < 1_000 ? (answers % 40) * 20 : 0)
    await storm.together(1_000)
  },

  async outage(storm: Storm) {
    await fail(storm, 2_000)
  },

  async 'long outage'(storm: Storm) {
    await fail(storm, 30_000)
  },

  async refusal(storm: Storm) {
    storm.service.issuer = 'refuses'
    await storm.together(500)
    await storm.together(500)
  },
}

async function fail(storm: Storm, ms: number): Promise<void> {
  storm.service.issuer = 'fails'
  setTimeout(() => {
    storm.service.issuer = 'answers'
  }, ms)
  await storm.callersFor(ms + 2_000, 50, 20)
}

const { peer, storm: name } = await orderGiven<StormOrder>()
const storm = new Storm(peer)
// a peer's own business, which costs it what it costs
process.on('unhandledRejection', () => {})
await storms[name](storm)
process.send?.(storm.figures(), () => process.exit())
