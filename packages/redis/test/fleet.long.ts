// Long: processes that share a Redis server.
import { type Sandbox, startSandbox } from '@tokenlane/sandbox'
import { type RedisServer, startRedis } from '@tokenlane/testing/redis-server'
import { createClient } from 'redis'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { Processes, type Result } from './processes.ts'

// Real processes, a real Redis and a real issuer. They end when they end: a busy machine may need long.
const patience = { interval: 20 }
/** So that a dead process is succeeded soon. */
const requestTimeout = 1_000

let redis: RedisServer
let sandbox: Sandbox
/** 8 at first; two are killed on the way. */
let fleet: Processes
beforeAll(async () => {
  ;[redis, sandbox] = await Promise.all([startRedis(), startSandbox()])
  fleet = await Processes.start(8, sandbox, redis.url)
})
afterAll(async () => {
  await fleet[Symbol.asyncDispose]()
  await Promise.all([redis.close(), sandbox.close()])
})
beforeEach(async () => {
  const client = await createClient({ url: redis.url }).connect()
  await client.flushAll()
  client.destroy()
  sandbox.control.setTokenLifetime(3_600_000)
  sandbox.control.resetCounts()
})

const requests = (): number => sandbox.control.counts().issuers.general.requests
const tokensOf = (results: readonly Result[]): Set<string> => new Set(results.flatMap(({ tokens }) => tokens))
/** Requests that came too late on a busy machine, and were made again. */
const repeatedOf = (results: readonly Result[]): number =>
  results.flatMap(({ events }) => events).filter((type) => type === 'renewal.failed').length
const lostOf = (results: readonly Result[]): number => results.reduce((sum, { lost }) => sum + lost, 0)

/** The next process that is about to ask the issuer dies instead. */
function killNextAsking(): { readonly killed: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>()
  fleet.onAsking = (child) => {
    fleet.onAsking = (next) => next.send('go')
    void fleet.kill(child).then(resolve)
  }
  return { killed: promise }
}

test('1,250 first calls in each of 8 processes cost one token request', async () => {
  const results = await fleet.all({ first: 1_250 })
  expect(requests()).toBe(1)
  expect(tokensOf(results).size).toBe(1)
  expect(lostOf(results)).toBe(0)
  const events = results.flatMap((result) => result.events).toSorted()
  expect(events).toEqual([...Array<string>(7).fill('token.received'), 'token.renewed'])
})

test('each expiry under load costs one token request, and no call', async () => {
  const lifetime = 800
  sandbox.control.setTokenLifetime(lifetime)
  await fleet.all({ first: 1 })
  const started = performance.now()
  const load = fleet.all({ load: 1 })
  await vi.waitFor(() => expect(requests()).toBeGreaterThan(3), patience)
  const expiries = (performance.now() - started) / (0.9 * lifetime)
  // a token serves for nine tenths of its life at least: more requests than that were asked for twice
  expect(requests() - 1).toBeLessThanOrEqual(expiries + 1)
  fleet.tell('stop')
  expect(lostOf(await load)).toBe(0)
})

test('a process that dies while it asks for all is succeeded, and no call is lost', async () => {
  const { killed } = killNextAsking()
  const results = await fleet.all({ first: 100, requestTimeout })
  await killed
  expect(results).toHaveLength(7)
  expect(lostOf(results)).toBe(0)
  expect(tokensOf(results).size).toBe(1)
  expect(requests()).toBe(1 + repeatedOf(results))
})

test('so it is when it renews what the API refuses', async () => {
  await fleet.all({ first: 1, requestTimeout })
  sandbox.control.resetCounts()
  const { killed } = killNextAsking()
  const load = fleet.all({ load: 1 })
  await vi.waitFor(() => expect(sandbox.control.counts().apis.general.calls).toBeGreaterThan(20), patience)
  sandbox.control.revokeTokens('general')
  await killed
  await vi.waitFor(() => expect(requests()).toBeGreaterThan(0), patience)
  fleet.tell('stop')
  const results = await load
  expect(results).toHaveLength(6)
  expect(lostOf(results)).toBe(0)
  expect(requests()).toBe(1 + repeatedOf(results))
})
