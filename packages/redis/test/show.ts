// What a shared store saves, measured: `node packages/redis/test/show.ts`. Real processes, a real Redis, a real issuer.
import { startSandbox } from '@tokenlane/sandbox'
import { startRedis } from '@tokenlane/testing/redis-server'
import { Processes, resultOf, type Result } from './processes.ts'

const size = 8
const expiries = 20

await using redis = await startRedis()
await using sandbox = await startSandbox()
const requests = (): number => sandbox.control.counts().issuers.general.requests
const sum = (results: readonly Result[], of: 'calls' | 'lost'): number =>
  results.reduce((total, result) => total + result[of], 0)

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5))
}

async function firstCalls(): Promise<void> {
  await using fleet = await Processes.start(size, sandbox, redis.url)
  sandbox.control.resetCounts()
  const results = await fleet.all({ first: 10_000 })
  const slowest = Math.max(...results.map(({ took }) => took))
  console.log(
    `${size} processes, ${sum(results, 'calls')} first calls: ${requests()} token request(s), ` +
      `${sum(results, 'lost')} lost, ${Math.round(slowest)} ms`,
  )
}

async function acrossExpiries(): Promise<void> {
  await redis.restart()
  await using fleet = await Processes.start(size, sandbox, redis.url)
  sandbox.control.setTokenLifetime(2_000)
  await fleet.all({ first: 1 })
  sandbox.control.resetCounts()
  const started = performance.now()
  const load = fleet.all({ load: 4 })
  await until(() => requests() >= expiries)
  const took = performance.now() - started
  fleet.tell('stop')
  const results = await load
  console.log(
    `${expiries} renewals of 2 s tokens took ${Math.round(took)} ms under load (at the earliest ` +
      `${expiries * 1_800}): ${sum(results, 'calls')} calls, ${sum(results, 'lost')} lost`,
  )
}

/** Every process that is the first to ask dies of it; another takes its place. */
async function withDyingHolders(): Promise<void> {
  await redis.restart()
  sandbox.control.setTokenLifetime(3_600_000)
  await using fleet = await Processes.start(size, sandbox, redis.url)
  await fleet.all({ first: 1, requestTimeout: 1_000 })
  sandbox.control.resetCounts()
  const others: Promise<Result | undefined>[] = []
  const load = fleet.all({ load: 2 })
  let killed = 0
  for (let renewal = 1; renewal <= expiries; renewal += 1) {
    fleet.onAsking = (child) => {
      fleet.onAsking = (next) => next.send('go')
      killed += 1
      void fleet.kill(child)
    }
    sandbox.control.revokeTokens('general')
    await until(() => requests() >= renewal)
    const successor = await fleet.add('redis')
    await resultOf(successor, { first: 1, requestTimeout: 1_000 })
    others.push(resultOf(successor, { load: 2 }))
  }
  fleet.tell('stop')
  const results = [...(await load), ...(await Promise.all(others))].filter((result) => result !== undefined)
  console.log(
    `${expiries} renewals whose first holder was killed (${killed}): ${requests()} token requests, ` +
      `${sum(results, 'calls')} calls of those that lived, ${sum(results, 'lost')} lost`,
  )
}

await firstCalls()
await acrossExpiries()
await withDyingHolders()
