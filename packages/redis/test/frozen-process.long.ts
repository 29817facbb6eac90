// Long: real processes that are frozen for seconds, with a real Redis, in each state in which a call waits.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { startRedis } from '@tokenlane/testing/redis-server'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientKinds } from './clients.ts'
import type { Order, Outcome } from './frozen-process.ts'

const limit = { quota: 10, window: 1_000 }
/** Longer than a lease of the lock, a wait for the lock, and a wait for Redis. */
const frozenFor = 5_000
const lateness = 100
const five = { calls: 5 }

type Respond = (response: ServerResponse) => unknown

/** An issuer and an API that count what arrives. */
class Service implements AsyncDisposable {
  readonly arrivals: number[] = []
  tokens = 0
  answerToken: Respond = (response) => this.issue(response)
  answerCall: Respond = (response) => response.end('ok')
  readonly #server = createServer((request, response) => {
    request.resume()
    if (request.url === '/token') {
      this.tokens += 1
      this.answerToken(response)
    } else {
      this.arrivals.push(performance.now())
      this.answerCall(response)
    }
  })

  async start(): Promise<string> {
    // what becomes of a connection that the server closes meanwhile is for the client to know
    this.#server.keepAliveTimeout = 60_000
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  issue(response: ServerResponse): void {
    const token = { access_token: `token-${this.tokens}`, token_type: 'Bearer', expires_in: 3_600 }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(token))
  }

  /** Resolves with the response to the next request for a token, or to the next call, which the caller ends. */
  next(what: 'answerToken' | 'answerCall'): Promise<ServerResponse> {
    const { promise, resolve } = Promise.withResolvers<ServerResponse>()
    const usual = this[what]
    this[what] = (response) => {
      this[what] = usual
      resolve(response)
    }
    return promise
  }

  /** Refuses the next call for two seconds. */
  async refuseOne(): Promise<void> {
    const response = await this.next('answerCall')
    response.writeHead(429, { 'retry-after': '2' }).end()
  }

  /** How close together more calls than the quota came, where that is closer than the window. */
  get over(): number[] {
    const { quota, window } = limit
    const gaps = this.arrivals.slice(quota).map((at, index) => at - (this.arrivals[index] as number))
    // this process may be held up, too, and read a call late
    return gaps.filter((gap) => gap < window - lateness)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}

async function tell(child: ChildProcess, order: Exclude<Order, 'stop'>): Promise<Outcome> {
  child.send(order)
  const [outcome] = (await once(child, 'message')) as [Outcome]
  return outcome
}

async function freeze(child: ChildProcess, ms = frozenFor): Promise<void> {
  child.kill('SIGSTOP')
  await sleep(ms)
  child.kill('SIGCONT')
}

interface Scene {
  readonly service: Service
  /** The process that is frozen, and another one. */
  readonly one: ChildProcess
  readonly other: ChildProcess
  readonly cutConnections: () => Promise<unknown>
}

/** Freezes a process in one state; the results are what both say of their calls. */
const states: Record<string, (scene: Scene) => Promise<readonly Outcome[]>> = {
  async 'holds the right to renew, and is answered meanwhile'({ service, one, other }) {
    const asked = service.next('answerToken')
    const outcome = tell(one, five)
    const response = await asked
    const thawed = freeze(one)
    service.issue(response)
    const others = tell(other, five)
    await thawed
    return Promise.all([outcome, others])
  },
  async 'holds the right to renew, and is answered afterwards'({ service, one, other }) {
    const asked = service.next('answerToken')
    const outcome = tell(one, five)
    const response = await asked
    const others = tell(other, five)
    await freeze(one)
    await sleep(200)
    service.issue(response)
    return Promise.all([outcome, others])
  },
  async 'waits for the process that renews'({ service, one, other }) {
    const asked = service.next('answerToken')
    const others = tell(other, five)
    const response = await asked
    const outcome = tell(one, five)
    await sleep(300)
    const thawed = freeze(one)
    service.issue(response)
    await thawed
    return Promise.all([outcome, others])
  },
  async 'waits for the process that renews, which is frozen with it'({ service, one, other }) {
    const asked = service.next('answerToken')
    const others = tell(other, five)
    const response = await asked
    const outcome = tell(one, five)
    await sleep(300)
    const thawed = [freeze(one), freeze(other)]
    service.issue(response)
    await Promise.all(thawed)
    return Promise.all([outcome, others])
  },
  async 'waits for the end of a pause that it began'({ service, one, other }) {
    const refused = service.refuseOne()
    const outcome = tell(one, five)
    await refused
    const others = tell(other, five)
    await freeze(one)
    return Promise.all([outcome, others])
  },
  async 'waits for the end of a pause that another one began'({ service, one, other }) {
    const refused = service.refuseOne()
    const others = tell(other, five)
    await refused
    const outcome = tell(one, five)
    await sleep(300)
    await freeze(one)
    return Promise.all([outcome, others])
  },
  async 'has a call under way that tries after a pause'({ service, one, other }) {
    const refused = service.refuseOne()
    const outcome = tell(one, five)
    await refused
    const trial = await service.next('answerCall')
    const others = tell(other, five)
    const thawed = freeze(one)
    trial.end('ok')
    await thawed
    return Promise.all([outcome, others])
  },
  async 'waits for a unit, and loses its connections meanwhile'({ one, other, cutConnections }) {
    const others = tell(other, { calls: 3 * limit.quota })
    const outcome = tell(one, { calls: 2 * limit.quota })
    await sleep(300)
    const thawed = freeze(one)
    await sleep(1_000)
    await cutConnections()
    await thawed
    return Promise.all([outcome, others])
  },
}

describe.concurrent.each(clientKinds)('with %s', (kind) => {
  const processes: ChildProcess[] = []
  const ends: (() => unknown)[] = []
  let cutConnections: Scene['cutConnections']
  let scenes = 0

  beforeAll(async () => {
    const redis = await startRedis()
    const admin = await createClient({ url: redis.url }).connect()
    cutConnections = async () => admin.sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'])
    for (let each = 0; each < 3; each += 1)
      processes.push(fork(new URL('frozen-process.ts', import.meta.url), [kind, redis.url]))
    ends.push(
      () => admin.destroy(),
      () => redis.close(),
    )
    await Promise.all(processes.map((child) => once(child, 'message')))
  })
  afterAll(async () => {
    for (const child of processes) child.kill('SIGKILL')
    for (const end of ends) await end()
  })

  async function play(scene: (all: Scene) => Promise<readonly Outcome[]>): Promise<Service> {
    await using service = new Service()
    const url = await service.start()
    const prefix = `scene${(scenes += 1)}`
    await Promise.all(processes.map((child) => tell(child, { url, prefix, quota: limit.quota })))
    const [one, other] = processes as [ChildProcess, ChildProcess]
    const outcomes = await scene({ service, one, other, cutConnections })
    expect(outcomes.map(({ lost, failures }) => [...lost, ...failures])).toEqual(outcomes.map(() => []))
    return service
  }

  for (const [state, scene] of Object.entries(states))
    test(
      `a process that ${state} is frozen: no call is lost, and none is over`,
      { concurrent: false },
      async () => {
        const { tokens, over } = await play(scene)
        expect(over).toEqual([])
        expect(tokens).toBeLessThanOrEqual(2)
      },
    )

  test(
    'a process is frozen again and again at any moment: no call is lost, and none is over',
    { concurrent: false },
    async () => {
      const { over } = await play(async ({ service, one }) => {
        service.answerCall = (response) => setTimeout(() => response.end('ok'), 20 + 60 * Math.random())
        const outcomes = processes.map(async (child) => tell(child, { lanes: 4 }))
        await sleep(3_000)
        for (const ms of [300, 1_500, 2_500, 4_500]) {
          await freeze(one, ms)
          await sleep(1_500 + 1_000 * Math.random())
        }
        for (const child of processes) child.send('stop')
        return Promise.all(outcomes)
      })
      expect(over).toEqual([])
    },
  )
})
