// What an outage of Redis costs a fleet, measured: `node packages/redis/test/show-outages.ts [processes] [words of the names…]`. Each
// process has a connection of its own; a strict server counts every arrival.
import { loadavg } from 'node:os'
import { startRedis } from '@tokenlane/testing/redis-server'
import { Redis } from 'ioredis'
import { createClient, createSentinel } from 'redis'
import { redisLimiter } from '../src/index.ts'
import type { TestClient } from './clients.ts'
import { type BadNetwork, startBadNetwork } from './support/bad-network.ts'
import { connectCluster } from './support/cluster-of-one.ts'
import { startClusterOfThree } from './support/cluster-of-three.ts'
import { pass, RateFleet } from './support/rate-fleet.ts'
import { masterName, startSentinel } from './support/sentinel.ts'

const limit = { quota: 25, window: 1_000 }
/** For how long the rate is measured, from the beginning of the outage. */
const measured = 40_000

/** What a fleet reaches Redis by, and how that fails. */
interface Site extends AsyncDisposable {
  connect(index: number): Promise<TestClient>
  fail(ms: number): Promise<void>
}

type Client = (url: string) => Promise<TestClient>

/** Clients that try again every 100 ms, and as they do by default. */
const clients: Readonly<Record<string, Client>> = {
  'redis, 100 ms': (url) => connectRedis(url, 100),
  'redis, default': (url) => connectRedis(url),
  'ioredis, 100 ms': (url) => connectIoredis(url, { retryStrategy: () => 100 }),
  'ioredis, default': (url) => connectIoredis(url, {}),
}

async function connectRedis(url: string, reconnectStrategy?: number): Promise<TestClient> {
  const client = createClient({ url, ...(reconnectStrategy && { socket: { reconnectStrategy } }) })
  client.on('error', () => {})
  await client.connect()
  return client
}

async function connectIoredis(url: string, options: { retryStrategy?: () => number }): Promise<TestClient> {
  const client = new Redis(url, { lazyConnect: true, ...options }).on('error', () => {})
  await client.connect()
  return Object.assign(client, { destroy: () => client.disconnect() })
}

/** One server, and what happens to it. */
async function oneServer(
  client: Client,
  fault: (redis: Awaited<ReturnType<typeof startRedis>>, network: BadNetwork, ms: number) => Promise<void>,
): Promise<Site> {
  const redis = await startRedis()
  const network = await startBadNetwork(redis.port)
  const isCut = fault === cut
  return {
    connect: () => client(isCut ? network.url : redis.url),
    fail: (ms) => fault(redis, network, ms),
    async [Symbol.asyncDispose]() {
      await network[Symbol.asyncDispose]()
      await redis.close()
    },
  }
}

type Fault = Parameters<typeof oneServer>[1]

const killed: Fault = async (redis, _, ms) => {
  await redis.kill()
  await pass(ms)
  await redis.restart()
}
const stopped: Fault = async (redis, _, ms) => {
  redis.stop()
  await pass(ms)
  redis.resume()
}
const cut: Fault = async (_, network, ms) => {
  network.become({ hole: 'all' })
  await pass(ms)
  network.become({ hole: 'nothing' })
}
const outOfMemory: Fault = async (redis, _, ms) => {
  const admin = createClient({ url: redis.url })
  await admin.connect()
  await admin.configSet('maxmemory', '1')
  await pass(ms)
  await admin.configSet('maxmemory', '0')
  admin.destroy()
}
const flushed: Fault = async (redis) => {
  const admin = createClient({ url: redis.url })
  await admin.connect()
  await admin.flushAll()
  admin.destroy()
}

async function bySentinel(): Promise<Site> {
  const sentinel = await startSentinel()
  return {
    async connect(index) {
      const rootNode = { host: '127.0.0.1', port: sentinel.port }
      if (index % 2 === 0) {
        const client = new Redis({ sentinels: [rootNode], name: masterName }).on('error', () => {})
        return Object.assign(client, { destroy: () => client.disconnect() })
      }
      const client = createSentinel({ name: masterName, sentinelRootNodes: [rootNode], scanInterval: 200 })
      client.on('error', () => {})
      await client.connect()
      return client
    },
    fail: () => sentinel.master.kill(),
    [Symbol.asyncDispose]: () => sentinel[Symbol.asyncDispose](),
  }
}

async function cluster(): Promise<Site> {
  const three = await startClusterOfThree()
  const [server] = three.servers
  return {
    connect: (index) =>
      connectCluster(index % 2 === 0 ? 'redis' : 'ioredis', server as (typeof three.servers)[0]),
    async fail(ms) {
      await Promise.all(three.servers.map((each) => each.kill()))
      await pass(ms)
      await Promise.all(three.servers.map((each) => each.restart()))
    },
    [Symbol.asyncDispose]: () => three[Symbol.asyncDispose](),
  }
}

const fast = clients['redis, 100 ms'] as Client
const outages: Readonly<Record<string, readonly [ms: number, site: () => Promise<Site>]>> = {
  'killed 0.2 s': [200, () => oneServer(fast, killed)],
  'killed 3 s': [3_000, () => oneServer(fast, killed)],
  'killed 5 s': [5_000, () => oneServer(fast, killed)],
  ...Object.fromEntries(
    Object.entries(clients).map(([name, client]) => [
      `killed 10 s, ${name}`,
      [10_000, () => oneServer(client, killed)] as const,
    ]),
  ),
  'killed 3 s, ioredis, default': [3_000, () => oneServer(clients['ioredis, default'] as Client, killed)],
  'killed 30 s': [30_000, () => oneServer(fast, killed)],
  'stopped 5 s': [5_000, () => oneServer(fast, stopped)],
  'stopped 10 s': [10_000, () => oneServer(fast, stopped)],
  'cut 10 s': [10_000, () => oneServer(fast, cut)],
  'out of memory 8 s': [8_000, () => oneServer(fast, outOfMemory)],
  FLUSHALL: [0, () => oneServer(fast, flushed)],
  'Sentinel, master killed': [0, bySentinel],
  'Cluster, killed 10 s': [10_000, cluster],
}

const [size = 24, ...words] = process.argv.slice(2).map((word) => (/^\d+$/.test(word) ? Number(word) : word))
console.log(`Load of the machine before: ${loadavg()[0]?.toFixed(1)}`)
console.log('| outage | before | after | longest silence | rate of 40 s | over | lost | failed |')
console.log('| --- | --- | --- | --- | --- | --- | --- | --- |')
for (const [name, [ms, site]] of Object.entries(outages))
  if (words.every((word) => name.includes(String(word)))) await show(name, ms, await site())

async function show(name: string, ms: number, site: Site): Promise<void> {
  const connected = await Promise.all(Array.from({ length: Number(size) }, (_, index) => site.connect(index)))
  const fleet = new RateFleet({
    size: Number(size),
    limits: [limit],
    depth: 3,
    apiTime: () => 5 + 55 * Math.random(),
    limiter: (index) =>
      redisLimiter({ client: connected[index] as TestClient, prefix: name, fallbackShare: 1 / Number(size) }),
  })
  await pass(8_000 + (Number(size) / limit.quota) * 1_000)
  const from = performance.now()
  const failing = site.fail(ms)
  await pass(measured + Math.max(0, ms - 10_000))
  await failing
  const took = performance.now() - from
  const { calls, over } = fleet.result(from)
  const silences = Array.from({ length: Number(size) }, (_, index) => silenceOf(fleet, index, from, ms))
  const most = (pick: (silence: Silence) => number): string => {
    const sorted = silences.map(pick).toSorted((one, other) => one - other)
    const seconds = (at: number): string => ((sorted[at] ?? 0) / 1_000).toFixed(1)
    return `${seconds(Math.floor(sorted.length / 2))} / ${seconds(sorted.length - 1)} s`
  }
  const failed = fleet.events.filter(({ type }) => type === 'limiter.failed').length
  const row = [
    `${name}, N = ${size}`,
    most(({ before }) => before),
    most(({ after }) => after),
    most(({ longest }) => longest),
    (calls / ((limit.quota * took) / (limit.window + 33))).toFixed(2),
    over,
    fleet.lost,
    failed,
  ]
  console.log(`| ${row.join(' | ')} |`)
  await fleet[Symbol.asyncDispose]()
  for (const client of connected) client.destroy()
  await site[Symbol.asyncDispose]()
}

interface Silence {
  /** From the beginning of the outage to the first call. */
  readonly before: number
  /** From its end to the first call. */
  readonly after: number
  readonly longest: number
}

function silenceOf(fleet: RateFleet, index: number, from: number, ms: number): Silence {
  const calls = fleet.arrivals
    .filter(({ process, at }) => process === index && at >= from)
    .map(({ at }) => at)
  // units that were granted before are still used
  const first = calls.find((at) => at > from + 1_200) ?? Infinity
  const back = calls.find((at) => at > from + ms) ?? Infinity
  const gaps = calls.map((at, call) => at - (calls[call - 1] ?? from))
  return { before: first - from, after: back - from - ms, longest: Math.max(...gaps) }
}
