// What it costs to get the token on a call while it lives: time, bytes and promises, beside what else people use.
import { createHook } from 'node:async_hooks'

import { peers } from './peers/all.ts'
import { cpuTime, printTable } from './support/figures.ts'
import { openHotPath } from './support/live-token.ts'
import { apiUrl, serviceBehind } from './support/peer.ts'
import { interleaved, spreadOf, spreadText } from './support/rounds.ts'
import { Service } from './support/service.ts'

const quick = process.argv.includes('--quick')
const rounds = quick ? 15 : 41
/** How long a case is measured in one round, in milliseconds. */
const stretch = 20
const callsWeighed = 1_000

/** Gets the `Authorization` of one call, now or later. */
type Authorize = () => unknown

const service = new Service()
const ours = 'Tokenlane: route and token'
const bare = 'bare `Map.get` and string'
const cases = new Map<string, Authorize>([
  [bare, bareAuthorize()],
  [ours, await oursAlone()],
])
for (const [name, create] of Object.entries(peers)) {
  const { call, authorize } = create(serviceBehind(service.fetch))
  await call()
  if (authorize) cases.set(name === 'Tokenlane' ? 'Tokenlane: whole `send`' : name, authorize)
}

const names = [...cases.keys()]
const caseOf = (name: string): Authorize => cases.get(name) as Authorize
const callsOf = new Map<string, number>()
for (const name of names) callsOf.set(name, await callsIn(stretch, caseOf(name)))
const times = await interleaved(names, rounds, (name) => timeOf(caseOf(name), callsOf.get(name) ?? 1))
const weights = await interleaved(names, 9, (name) => weightOf(caseOf(name)))

const base = spreadOf(times.get(ours) ?? []).median
const rows = []
for (const name of names) {
  const time = spreadOf(times.get(name) ?? [])
  rows.push({
    'one call': name,
    time: (time.median / base).toFixed(2),
    'ns of CPU': spreadText(time, 0),
    bytes: spreadOf(weights.get(name) ?? []).median.toFixed(0),
    promises: (await promisesOf(caseOf(name))).toFixed(0),
  })
}
printTable(
  `Getting a live token for a call: CPU time, medians of ${rounds} rounds of ${stretch} ms (Tokenlane = 1)`,
  rows,
)

function bareAuthorize(): Authorize {
  const tokens = new Map([[apiUrl, 'token']])
  return () => `Bearer ${tokens.get(apiUrl)}`
}

async function oursAlone(): Promise<Authorize> {
  const authorize = await openHotPath(service.fetch)
  return () => authorize(apiUrl)
}

/** How many calls take so long, once they are warm. */
async function callsIn(ms: number, authorize: Authorize): Promise<number> {
  const warm = 5_000
  await repeat(authorize, warm)
  return Math.ceil((ms * 1e6) / (await timeOf(authorize, warm)))
}

/** Nanoseconds of CPU per call. A value that is there is not waited for. */
async function timeOf(authorize: Authorize, calls: number): Promise<number> {
  // no garbage collection by hand: V8 drops code that has not run for some of them
  const start = cpuTime()
  await repeat(authorize, calls)
  return ((cpuTime() - start) * 1_000) / calls
}

/** Bytes per call. */
async function weightOf(authorize: Authorize): Promise<number> {
  globalThis.gc?.()
  const before = process.memoryUsage().heapUsed
  await repeat(authorize, callsWeighed)
  return (process.memoryUsage().heapUsed - before) / callsWeighed
}

async function promisesOf(authorize: Authorize): Promise<number> {
  let made = 0
  const hook = createHook({
    init(_id, type) {
      if (type === 'PROMISE') made += 1
    },
  }).enable()
  const before = made
  for (let call = 0; call < 100; call += 1) {
    const outcome = authorize()
    // awaiting one makes none here
    if (outcome instanceof Promise) await outcome
  }
  hook.disable()
  return (made - before) / 100
}

async function repeat(authorize: Authorize, calls: number): Promise<void> {
  for (let call = 0; call < calls; call += 1) {
    const outcome = authorize()
    if (outcome instanceof Promise) await outcome
  }
}
