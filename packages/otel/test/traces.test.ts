import { createRequire } from 'node:module'
import { metrics, SpanKind, trace, type Span, type Tracer } from '@opentelemetry/api'
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http'
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici'
import { attachTokens } from '@tokenlane/axios'
import type { TokenManager } from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'
import { gotTokens } from '@tokenlane/got'
import { kyTokens } from '@tokenlane/ky'
import { openService } from '@tokenlane/testing'
import { tokensInterceptor } from '@tokenlane/undici'
import axios from 'axios'
import got from 'got'
import ky from 'ky'
import { Agent, request as send } from 'undici'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { instrumentTokens } from '../src/index.ts'
import { disableContext, enableContext, recordSpansInMemory } from './support/recorder.ts'

const service = await openService()
const { createManager, weblink, sandbox } = service

beforeAll(enableContext)
afterAll(disableContext)
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

function instrumented(options: Parameters<typeof createManager>[0] = {}) {
  const recorder = recordSpansInMemory()
  const tokens = createManager(options)
  const end = instrumentTokens(tokens, { tracer: recorder.tracer })
  cleanups.push(() => tokens.close(), end)
  return { ...recorder, tokens }
}

/** Runs `work` within a span of its own, which ends with it. */
async function within<T>(tracer: Tracer, work: (span: Span) => Promise<T>): Promise<T> {
  return tracer.startActiveSpan('caller', async (span) => {
    try {
      return await work(span)
    } finally {
      span.end()
    }
  })
}

const calls: Readonly<Record<string, (tokens: TokenManager) => (url: string) => Promise<unknown>>> = {
  fetch: (tokens) => createFetch(tokens),
  axios: (tokens) => {
    const client = axios.create()
    attachTokens(client, tokens)
    return (url) => client.get(url)
  },
  got: (tokens) => {
    const client = got.extend(gotTokens(tokens))
    return (url) => client(url).text()
  },
  ky: (tokens) => {
    const client = ky.extend(kyTokens(tokens))
    return (url) => client(url).text()
  },
  undici: (tokens) => {
    const dispatcher = new Agent().compose(tokensInterceptor(tokens))
    cleanups.push(() => dispatcher.close())
    return async (url) => (await send(url, { dispatcher })).body.text()
  },
}

test('a token request is one span without a parent, and the call that waited for it has a link to it', async () => {
  const { tokens, tracer, spans } = instrumented()
  const fetch = createFetch(tokens)
  await within(tracer, () => fetch(weblink('records')))
  const [request, caller] = spans()
  expect(request).toMatchObject({
    name: 'tokenlane.token.request',
    attributes: { 'tokenlane.issuer': 'weblink', 'tokenlane.reason': 'startup' },
  })
  expect(request?.parentSpanContext).toBeUndefined()
  expect(caller?.links.map(({ context }) => context.spanId)).toEqual([request?.spanContext().spanId])
  expect(caller?.events.map(({ name, attributes }) => [name, attributes?.['tokenlane.reason']])).toEqual([
    ['tokenlane.wait', 'token'],
  ])
})

test('50 calls that share a token request all have a link to it', async () => {
  const { tokens, tracer, spans } = instrumented()
  const fetch = createFetch(tokens)
  await Promise.all(Array.from({ length: 50 }, () => within(tracer, () => fetch(weblink('records')))))
  const requests = spans().filter(({ name }) => name === 'tokenlane.token.request')
  const callers = spans().filter(({ name }) => name === 'caller')
  expect(requests).toHaveLength(1)
  expect(callers).toHaveLength(50)
  for (const { links } of callers) expect(links).toHaveLength(1)
})

test('a call with a live token adds neither an event nor a link', async () => {
  const { tokens, tracer, spans } = instrumented()
  await tokens.getToken('weblink')
  await within(tracer, () => createFetch(tokens)(weblink('records')))
  expect(spans().find(({ name }) => name === 'caller')).toMatchObject({ links: [], events: [] })
})

test('the request to the token endpoint is a child of the token request, not of the call', async () => {
  const { tokens, tracer, spans, provider } = instrumented()
  const instrumentation = new UndiciInstrumentation()
  instrumentation.setTracerProvider(provider)
  cleanups.push(() => instrumentation.disable())
  await within(tracer, () => createFetch(tokens)(weblink('records')))
  const request = spans().find(({ name }) => name === 'tokenlane.token.request')
  const caller = spans().find(({ name }) => name === 'caller')
  const http = spans().filter(({ name }) => name === 'GET' || name === 'POST')
  expect(http.map(({ name, parentSpanContext }) => [name, parentSpanContext?.spanId])).toEqual([
    ['POST', request?.spanContext().spanId],
    ['GET', caller?.spanContext().spanId],
  ])
})

test('with the HTTP instrumentation, the request of got and axios is a child of the call alone', async () => {
  const { tokens, tracer, spans, provider } = instrumented()
  const instrumentation = new HttpInstrumentation()
  instrumentation.setTracerProvider(provider)
  cleanups.push(() => instrumentation.disable())
  // the instrumentation patches what is required after it
  createRequire(import.meta.url)('node:https')
  for (const connect of [calls['got'], calls['axios']])
    await within(tracer, async () => connect?.(tokens)(weblink('records')))
  const callers = spans().filter(({ name }) => name === 'caller')
  const http = spans().filter(({ name, kind }) => name === 'GET' && kind === SpanKind.CLIENT)
  expect(http.map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual(
    callers.map((caller) => caller.spanContext().spanId),
  )
})

test('a failed token request has the code as its error type', async () => {
  const { tokens, spans } = instrumented()
  sandbox.control.failIssuer('weblink', { status: 401 })
  await expect(createFetch(tokens)(weblink('records'))).rejects.toThrow('issuer "weblink"')
  expect(spans()[0]).toMatchObject({
    attributes: { 'error.type': 'TOKEN_REQUEST_REFUSED' },
    status: { code: 2 },
  })
})

test('a call that is sent again says why', async () => {
  const { tokens, tracer, spans } = instrumented()
  await service.revoke(tokens)
  await within(tracer, () => createFetch(tokens)(weblink('records')))
  const caller = spans().find(({ name }) => name === 'caller')
  expect(caller?.events.find(({ name }) => name === 'tokenlane.resend')?.attributes).toEqual({
    'tokenlane.api': expect.stringMatching(/^https:/),
    'tokenlane.reason': 'rejected',
    'http.request.resend_count': 1,
  })
})

test.each(Object.entries(calls))(
  '%s: what the caller starts after the wait has the span of the caller as its parent',
  async (_, connect) => {
    const { tokens, tracer, spans } = instrumented({
      apis: [
        {
          baseUrl: sandbox.weblinkUrl,
          issuer: 'weblink',
          ratePolicy: { limits: [{ quota: 1, window: 50 }], concurrency: 1 },
        },
      ],
    })
    const call = connect(tokens)
    await Promise.all(
      ['a', 'b', 'c'].map((name) =>
        tracer.startActiveSpan(name, async (span) => {
          await call(weblink('records'))
          tracer.startSpan(`after ${name}`).end()
          span.end()
        }),
      ),
    )
    for (const name of ['a', 'b', 'c']) {
      const [caller, after] = [name, `after ${name}`].map((wanted) =>
        spans().find((span) => span.name === wanted),
      )
      expect(after?.parentSpanContext?.spanId).toBe(caller?.spanContext().spanId)
      expect(caller?.events.length).toBeGreaterThan(0)
    }
  },
)

test('no span holds a token, a secret, a query or a body', async () => {
  const { tokens, tracer, spans } = instrumented()
  const token = await service.revoke(tokens)
  await within(tracer, () =>
    createFetch(tokens)(`${weblink('records')}?secret=query`, { method: 'POST', body: 'secret body' }),
  )
  const text = JSON.stringify(
    spans().map(({ name, attributes, events, links, status }) => ({
      name,
      attributes,
      events,
      links,
      status,
    })),
  )
  const { value } = await tokens.getToken('weblink')
  for (const secret of [
    token,
    value,
    sandbox.credentials.weblink.clientSecret,
    'secret=query',
    'secret body',
  ])
    expect(text).not.toContain(secret)
})

test('a tracer and a meter that throw change nothing for the calls', async () => {
  const thrower = (): never => {
    throw new Error('broken')
  }
  const tokens = createManager()
  const instrument = { record: thrower, add: thrower }
  const end = instrumentTokens(tokens, {
    tracer: { startSpan: thrower, startActiveSpan: thrower } as unknown as Tracer,
    meter: Object.assign(Object.create(metrics.getMeter('broken')) as ReturnType<typeof metrics.getMeter>, {
      createHistogram: () => instrument,
      createCounter: () => instrument,
    }),
  })
  cleanups.push(() => tokens.close(), end)
  await service.revoke(tokens)
  expect((await createFetch(tokens)(weblink('records'))).status).toBe(200)
})

test('an ended instrumentation records nothing more, and a second one ends with the last', async () => {
  const { tracer, spans } = recordSpansInMemory()
  const tokens = createManager()
  cleanups.push(() => tokens.close())
  const [first, second] = [instrumentTokens(tokens, { tracer }), instrumentTokens(tokens, { tracer })]
  first()
  first()
  await tokens.getToken('general')
  expect(spans()).toHaveLength(1)
  second()
  await tokens.getToken('weblink')
  expect(spans()).toHaveLength(1)
})

test('two managers of one process are told apart', async () => {
  const one = instrumented()
  const other = instrumented()
  await one.tokens.getToken('general')
  expect([one.spans().length, other.spans().length]).toEqual([1, 0])
  expect(trace.getActiveSpan()).toBeUndefined()
})
