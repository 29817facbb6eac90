// Draws a trace of a call that waited for its token, from spans of a real SDK: docs/images/trace.svg.
import { writeFileSync } from 'node:fs'
import tls from 'node:tls'
import { context, type HrTime } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { drawChart } from '@tokenlane/charts'
import { createTokenManager, generalIssuer } from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'
import { startSandbox } from '@tokenlane/sandbox'
import { instrumentTokens } from '../src/index.ts'

const sandbox = await startSandbox({ records: 10 })
tls.setDefaultCACertificates([...tls.getCACertificates('default'), sandbox.ca])
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
const exporter = new InMemorySpanExporter()
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
const instrumentation = new UndiciInstrumentation()
instrumentation.setTracerProvider(provider)
const tracer = provider.getTracer('picture')

const tokens = createTokenManager({
  issuers: { general: generalIssuer({ authUrl: sandbox.authUrl, credentials: sandbox.credentials.general }) },
  apis: [{ baseUrl: sandbox.apiUrl, issuer: 'general' }],
})
instrumentTokens(tokens, { tracer })
// the trace shows a call that waits for a slow issuer
sandbox.control.slowIssuer('general', 400)
const fetch = createFetch(tokens)
await tracer.startActiveSpan('your span: read the orders', async (span) => {
  await (await fetch(`${sandbox.apiUrl}records`)).text()
  span.end()
})

const names: Readonly<Record<string, string>> = {
  'tokenlane.token.request': 'tokenlane.token.request (linked)',
  POST: 'POST to the issuer, its child',
  GET: 'GET to the API, child of your span',
}
const ms = ([seconds, nanoseconds]: HrTime): number => seconds * 1_000 + nanoseconds / 1e6
const spans = exporter.getFinishedSpans()
const start = Math.min(...spans.map(({ startTime }) => ms(startTime)))
const values = spans
  .map(({ name, startTime, endTime }) => ({
    span: names[name] ?? name,
    from: ms(startTime) - start,
    to: ms(endTime) - start,
  }))
  .toSorted((one, other) => one.from - other.from)
instrumentation.disable()
await tokens.close()
await sandbox.close()

/** Returns the chart with the names of its bars beside them or, for phones, above them. */
function specOf(width: number, place: 'beside' | 'above'): object {
  const y = { field: 'span', type: 'nominal', sort: null, title: null }
  const x = {
    field: 'from',
    type: 'quantitative',
    title: null,
    axis: { format: 'd', labelExpr: "datum.label + ' ms'" },
  }
  const color = { field: 'span', type: 'nominal', legend: null, sort: null }
  const bar = { type: 'bar', height: 16, cornerRadius: 3 }
  const chart = { width, data: { values } }
  if (place === 'beside') {
    const axis = { labelLimit: 500, ticks: false }
    return {
      ...chart,
      height: { step: 30 },
      mark: bar,
      encoding: { y: { ...y, axis }, x, x2: { field: 'to' }, color },
    }
  }
  const text = { type: 'text', align: 'left', dy: -11, fontSize: 12 }
  return {
    ...chart,
    height: { step: 42 },
    encoding: { y: { ...y, axis: null } },
    layer: [
      { mark: { ...bar, yOffset: 7 }, encoding: { x, x2: { field: 'to' }, color } },
      { mark: text, encoding: { x: { datum: 0 }, text: { field: 'span' }, color: { value: '#1f2329' } } },
    ],
  }
}

const label =
  'A trace: your span waits for the token request, which a link leads to; then the call goes to the API'
const forms = { trace: [520, 'beside'], 'trace-narrow': [320, 'above'] } as const
for (const [name, form] of Object.entries(forms))
  writeFileSync(
    new URL(`../../../docs/images/${name}.svg`, import.meta.url),
    await drawChart(specOf(...form) as never, label),
  )
