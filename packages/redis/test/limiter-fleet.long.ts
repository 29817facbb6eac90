// Long: processes that share a Redis server.
import { fork, type ChildProcess } from 'node:child_process'
import { type Sandbox, startSandbox } from '@tokenlane/sandbox'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { FleetNews, FleetOrder } from './support/fleet-process.ts'
import { type RedisServer, startRedis } from '@tokenlane/testing/redis-server'

// Several processes, a real Redis, and a server that counts every arrival in every sliding window.

const limits = [{ quota: 20, window: 300 }]
const size = 4
/** What each process makes at once: together five times the quota. */
const calls = 25
// on a machine that is busy everything takes its time

let redis: RedisServer
let sandbox: Sandbox
let fleet: Member[]
beforeAll(async () => {
  redis = await startRedis()
  sandbox = await startSandbox({ delays: { min: 0, max: 60 }, ratePolicies: { general: { limits } } })
  const { authUrl, apiUrl, ca, credentials } = sandbox
  const order: Omit<FleetOrder, 'client'> = {
    sandbox: { authUrl, apiUrl, ca, credentials },
    port: redis.port,
    // on a busy machine a process may stand still between its send and the request
    ratePolicy: { limits, unansweredGrace: 60_000 },
    fallbackShare: 1 / size,
    // the clients try every 50 ms
    reconnectTime: 1_000,
  }
  fleet = Array.from({ length: size }, (_, index) =>
    member({ ...order, client: index % 2 === 0 ? 'redis' : 'ioredis' }),
  )
  await all('ready')
})
afterAll(async () => {
  for (const { process } of fleet) process.kill('SIGKILL')
  await sandbox.close()
  await redis.close()
})
beforeEach(() => {
  sandbox.control.resetCounts()
  for (const { news } of fleet) news.length = 0
})

interface Member {
  readonly process: ChildProcess
  readonly news: FleetNews[]
}

function member(order: FleetOrder): Member {
  const process = fork(new URL('support/fleet-process.ts', import.meta.url))
  const news: FleetNews[] = []
  process.on('message', (message: FleetNews) => news.push(message))
  process.send(order)
  return { process, news }
}

const until = (condition: () => void): Promise<void> => vi.waitFor(condition, { interval: 10 })
const all = (news: FleetNews): Promise<void> =>
  until(() => {
    for (const each of fleet) expect(each.news).toContain(news)
  })
const arrived = (count: number): Promise<void> =>
  until(() => expect(sandbox.control.counts().apis.general.calls).toBeGreaterThanOrEqual(count))

function make(): void {
  for (const { process } of fleet) process.send(calls)
}

/** What went wrong, when all calls have ended. */
async function wrong(): Promise<{ lost: number; limited: number; over: number }> {
  await until(() => {
    for (const { news } of fleet) expect(outcomesOf(news)).toHaveLength(calls)
  })
  const lost = fleet.flatMap(({ news }) => outcomesOf(news)).filter((outcome) => outcome !== '200')
  const { limited, maxInWindow } = sandbox.control.counts().apis.general
  return { lost: lost.length, limited, over: Math.max(0, (maxInWindow[0] ?? 0) - 20) }
}

const nothing = { lost: 0, limited: 0, over: 0 }

function outcomesOf(news: readonly FleetNews[]): string[] {
  return news.flatMap((each) => (typeof each === 'string' ? [] : each.outcomes))
}

test('processes with either client share one budget', async () => {
  make()
  expect(await wrong()).toEqual(nothing)
})

test('Redis dies in mid-run and comes back empty: no call is lost, and none is over', async () => {
  make()
  await arrived(25)
  await redis.kill()
  await all('limiter.failed')
  // by the shares of the processes
  await arrived(50)
  await redis.restart()
  await all('limiter.recovered')
  expect(await wrong()).toEqual(nothing)
  for (const { news } of fleet) {
    // once when it begins, once when it is over
    const told = news.filter((each) => typeof each === 'string')
    for (const [index, each] of told.entries())
      expect(each).toBe(index % 2 === 0 ? 'limiter.failed' : 'limiter.recovered')
  }
})

test('Redis stands still in mid-run and goes on: no call is lost, and none is over', async () => {
  make()
  await arrived(25)
  redis.stop()
  await all('limiter.failed')
  await arrived(50)
  redis.resume()
  await all('limiter.recovered')
  expect(await wrong()).toEqual(nothing)
})

test('a process dies in mid-run: the others go on', async () => {
  make()
  await arrived(25)
  fleet.pop()?.process.kill('SIGKILL')
  expect(await wrong()).toEqual(nothing)
})
