import { readFileSync } from 'node:fs'
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { attachTokens } from '@tokenlane/axios'
import { generalIssuer } from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'
import { gotTokens } from '@tokenlane/got'
import { kyTokens } from '@tokenlane/ky'
import { openService } from '@tokenlane/testing'
import axios from 'axios'
import got from 'got'
import ky from 'ky'
import { expect, test } from 'vitest'
import { instruments, instrumentTokens } from '../src/index.ts'
import { recordMetricsInMemory } from './support/recorder.ts'

const { createManager, sandbox } = await openService()

test('1,000 calls of 4 clients to 3 APIs make as many series as 12 calls', async () => {
  const { meter, series } = recordMetricsInMemory()
  const apis = [
    { baseUrl: sandbox.apiUrl, issuer: 'general' },
    { baseUrl: `${sandbox.apiUrl}records`, issuer: 'general' },
    { baseUrl: sandbox.weblinkUrl, issuer: 'weblink', ratePolicy: { limits: [], concurrency: 50 } },
  ]
  const tokens = createManager({ apis })
  instrumentTokens(tokens, { meter })
  const axiosClient = axios.create()
  attachTokens(axiosClient, tokens)
  const fetchWithTokens = createFetch(tokens)
  const gotClient = got.extend(gotTokens(tokens))
  // of its own ky gives a busy machine 10 s for a call
  const kyClient = ky.extend({ ...kyTokens(tokens), timeout: false })
  const urls = [`${sandbox.apiUrl}status/200`, `${sandbox.apiUrl}records`, `${sandbox.weblinkUrl}records`]
  const calls = urls.flatMap((url) => [
    () => axiosClient.get(url),
    () => fetchWithTokens(url),
    () => gotClient(url),
    () => kyClient(url),
  ])
  const count = async (): Promise<number> => [...(await series()).values()].flat().length
  await Promise.all(calls.map((call) => call()))
  const few = await count()
  for (let round = 0; round < 20; round += 1)
    await Promise.all(Array.from({ length: 50 }, async (_, index) => calls[index % calls.length]?.()))
  expect(await count()).toBe(few)
  expect(few).toBeLessThanOrEqual(40)
  const counted = (await series()).get('tokenlane.calls') ?? []
  expect(counted).toHaveLength(12)
  expect(counted.reduce((sum, { value }) => sum + (value as number), 0)).toBe(1_012)
  await tokens.close()
})

test('a limit that has a name has a series of its own, others have none', async () => {
  const { meter, series } = recordMetricsInMemory()
  const limits = [
    { quota: 10, window: 60_000, name: 'account' },
    { quota: 50, window: 60_000, name: 'writes', match: 'POST' },
    { quota: 100, window: 60_000, match: '/records/:id' },
  ]
  const tokens = createManager({
    apis: [{ baseUrl: sandbox.weblinkUrl, issuer: 'weblink', ratePolicy: { limits } }],
  })
  const stop = instrumentTokens(tokens, { meter })
  await createFetch(tokens)(`${sandbox.weblinkUrl}records`)
  const seen = (await series()).get('tokenlane.limit.used') ?? []
  expect(seen.map(({ value, attributes }) => [attributes['tokenlane.limit'], value])).toEqual([
    ['account', 0.1],
  ])
  stop()
  await tokens.close()
})

test('every attribute of every series is one that the table names', async () => {
  const { meter, series } = recordMetricsInMemory()
  const tokens = createManager()
  instrumentTokens(tokens, { meter, attributes: { tenant: 'a' } })
  await createFetch(tokens)(`${sandbox.weblinkUrl}records`)
  const seen = await series()
  expect(seen.size).toBeGreaterThan(4)
  for (const [name, points] of seen) {
    const { attributes } = instruments[name as keyof typeof instruments]
    for (const point of points)
      expect(['tenant', ...attributes]).toEqual(expect.arrayContaining(Object.keys(point.attributes)))
    expect(points[0]?.attributes['tenant']).toBe('a')
  }
  await tokens.close()
})

test('a refused secret is counted unless the same renewal succeeds with another one', async () => {
  const { meter, series } = recordMetricsInMemory()
  const old = sandbox.credentials.general
  const next = sandbox.control.rotateSecret('general')
  const tokens = createManager({
    issuers: {
      rotated: generalIssuer({ authUrl: sandbox.authUrl, credentials: [old, next] }),
      refused: generalIssuer({ authUrl: sandbox.authUrl, credentials: old }),
    },
    apis: [],
  })
  instrumentTokens(tokens, { meter })
  await tokens.getToken('rotated')
  await expect(tokens.getToken('refused')).rejects.toThrow('refused')
  const points = (await series()).get('tokenlane.token.request.duration') ?? []
  expect(points.map(({ attributes }) => [attributes['tokenlane.issuer'], attributes['error.type']])).toEqual([
    ['rotated', undefined],
    ['refused', 'TOKEN_REQUEST_REFUSED'],
  ])
  await tokens.close()
})

test('a gauge says whether an API refuses every token', async () => {
  const { meter, series } = recordMetricsInMemory()
  const tokens = createManager()
  instrumentTokens(tokens, { meter })
  const refused = async (): Promise<unknown> => {
    await createFetch(tokens)(`${sandbox.apiUrl}records`)
    const points = (await series()).get('tokenlane.api.refuses_tokens') ?? []
    return points.find(({ attributes }) => attributes['tokenlane.api'] === sandbox.apiUrl)?.value
  }
  expect(await refused()).toBe(0)
  sandbox.control.failApi('general', { status: 401 })
  expect(await refused()).toBe(1)
  sandbox.control.restoreApi('general')
  expect(await refused()).toBe(0)
  await tokens.close()
})

test('the README names metrics as the exporter to Prometheus does; the Collector adds units', async () => {
  const exporter = new PrometheusExporter({ preventServerStart: true })
  const tokens = createManager()
  instrumentTokens(tokens, { meter: new MeterProvider({ readers: [exporter] }).getMeter('test') })
  await createFetch(tokens)(`${sandbox.apiUrl}records`)
  const { resourceMetrics } = await exporter.collect()
  const exported = new PrometheusSerializer().serialize(resourceMetrics)
  const page = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const named = /In Prometheus, .*?\n\n/s.exec(page)?.[0].match(/tokenlane_\w+/g) ?? []
  expect(named).toHaveLength(2)
  for (const name of named) expect(exported).toContain(`\n${name.replace('_seconds', '')}{`)
  await tokens.close()
})
