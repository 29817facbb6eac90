// What it costs to be seen: one call with a live token, without tracing channels, with channels that have no
// subscriber, with an observer, and with OpenTelemetry's real SDK.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { context } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { TokenManager } from '@tokenlane/core'
import type { Exchange } from '@tokenlane/core/adapter'
import { createFetch } from '@tokenlane/fetch'
import { instrumentTokens } from '@tokenlane/otel'
import { installBuilt } from './support/built.ts'
import { cpuTime } from './support/cpu.ts'
import { apiUrl, tokenUrl } from './support/peer.ts'
import { interleaved, spreadOf, spreadText } from './support/rounds.ts'
import { Service } from './support/service.ts'
import { printTable } from './support/table.ts'

const quick = process.argv.includes('--quick')
const rounds = quick ? 9 : 41
const callsInRound = 2_000

const service = new Service()
const built = pathToFileURL(join(installBuilt(), 'node_modules/@tokenlane/core/dist/index.js')).href

/** A manager of a copy of core of its own, which has looked for tracing channels by itself. */
async function managerOf(variant: string): Promise<TokenManager> {
  const { createTokenManager } = (await import(`${built}?${variant}`)) as typeof import('@tokenlane/core')
  const tokens = createTokenManager({
    issuers: {
      general: { tokenEndpoint: tokenUrl, credentials: { clientId: 'client', clientSecret: 'secret' } },
    },
    apis: [{ baseUrl: new URL('/', apiUrl).href, issuer: 'general' }],
    fetch: service.fetch,
  })
  await tokens.warmUp()
  return tokens
}

/** As in a runtime that has no `node:diagnostics_channel`. */
async function withoutChannels(): Promise<TokenManager> {
  const { getBuiltinModule } = process
  process.getBuiltinModule = (id: string): never =>
    (id === 'node:diagnostics_channel' ? undefined : getBuiltinModule(id)) as never
  try {
    return await managerOf('without-channels')
  } finally {
    process.getBuiltinModule = getBuiltinModule
  }
}

async function withObserver(): Promise<TokenManager> {
  const tokens = await managerOf('observer')
  let finished = 0
  tokens.observe(({ type }) => {
    if (type === 'call.finished') finished += 1
  })
  return tokens
}

async function withOpenTelemetry(): Promise<TokenManager> {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 30 })
  const spans = new SimpleSpanProcessor({ exporter: new InMemorySpanExporter() })
  const tokens = await managerOf('otel')
  instrumentTokens(tokens, {
    meter: new MeterProvider({ readers: [reader] }).getMeter('bench'),
    tracer: new TracerProvider({ spanProcessors: [spans] }).getTracer('bench'),
  })
  return tokens
}

const variants = new Map<string, TokenManager>([
  ['without channels', await withoutChannels()],
  ['channels, no subscriber', await managerOf('channels')],
  ['one observer', await withObserver()],
])
const answer: Exchange<number> = { status: 200, result: 200, discard() {} }
const attempt = (): Promise<Exchange<number>> => Promise.resolve(answer)
const stub = (async () => new Response('{}')) as typeof globalThis.fetch

type Call = () => Promise<unknown>
const sends = new Map<string, Call>()
const fetches = new Map<string, Call>()
function addCalls(name: string, tokens: TokenManager): void {
  sends.set(name, async () => tokens.route(apiUrl)?.send(attempt))
  const fetch = createFetch(tokens, { fetch: stub })
  fetches.set(name, async () => (await fetch(apiUrl)).text())
}
for (const [name, tokens] of variants) addCalls(name, tokens)

// subscribers of a channel are the whole process', so the SDK comes after the others have been measured
await table('Core alone (route and `send`)', sends)
await table('A call with @tokenlane/fetch on a stubbed `fetch`', fetches)

async function table(title: string, calls: ReadonlyMap<string, Call>): Promise<void> {
  const times = await measure(calls)
  const base = spreadOf(times.get('without channels') ?? []).median
  const instrumented = await measured(title)
  const rows = [...times, ...instrumented].map(([name, figures]) => {
    const spread = spreadOf(figures)
    return { variant: name, time: (spread.median / base).toFixed(2), 'ns of CPU': spreadText(spread, 0) }
  })
  printTable(
    `${title}: CPU time, medians of ${rounds} rounds of ${callsInRound} calls (without channels = 1)`,
    rows,
  )
}

/** With the SDK, whose instrumentation ends before anything else is measured. */
async function measured(title: string): Promise<Map<string, number[]>> {
  const name = 'OpenTelemetry, real SDK'
  const tokens = await withOpenTelemetry()
  const calls = new Map<string, Call>()
  if (title.startsWith('Core')) calls.set(name, async () => tokens.route(apiUrl)?.send(attempt))
  else {
    const fetch = createFetch(tokens, { fetch: stub })
    calls.set(name, async () => (await fetch(apiUrl)).text())
  }
  const times = await measure(calls)
  context.disable()
  await tokens.close()
  return times
}

async function measure(calls: ReadonlyMap<string, Call>): Promise<Map<string, number[]>> {
  const timeOf = async (name: string): Promise<number> => {
    const call = calls.get(name) as Call
    const start = cpuTime()
    for (let index = 0; index < callsInRound; index += 1) await call()
    return ((cpuTime() - start) * 1_000) / callsInRound
  }
  for (const name of calls.keys()) await timeOf(name)
  return interleaved([...calls.keys()], rounds, timeOf)
}
