// Some seconds of a service that has a bad day, read by four clients: a rotation, an outage, a revocation, and a rate
// limit below the configured one. The rate budget and the token store that the processes should share are down.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import tls from 'node:tls'
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { attachTokens } from '@tokenlane/axios'
import { createTokenManager, generalIssuer, weblinkIssuer, type TokenManager } from '@tokenlane/core'
import { createRateLimiter, type RateLimiterFactory, sharedStore } from '@tokenlane/core/fleet'
import { createFetch } from '@tokenlane/fetch'
import { gotTokens } from '@tokenlane/got'
import { kyTokens } from '@tokenlane/ky'
import { startSandbox, type Sandbox, type SandboxCounts } from '@tokenlane/sandbox'
import { startPrometheus, type PrometheusServer } from '@tokenlane/testing/prometheus-server'
import axios from 'axios'
import got from 'got'
import ky from 'ky'
import { instrumentTokens } from '../../src/index.ts'

const msPerDay = 86_400_000

export interface BadDay {
  readonly prometheus: PrometheusServer
  /** When the first call was made, in milliseconds since 1970. */
  readonly startedAt: number
  /** What the sandbox counted at the end. */
  readonly counts: SandboxCounts
  close(): Promise<void>
}

/** Runs the day, and leaves Prometheus running. */
export async function haveBadDay(): Promise<BadDay> {
  const sandbox = await startSandbox({
    tokenLifetime: 2_000,
    records: 10,
    ratePolicies: { weblink: { limits: [{ quota: 8, window: 1_000 }] } },
  })
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), sandbox.ca])
  const { credentials, control } = sandbox
  let general = credentials.general
  const tokens = createManager(sandbox, () => [credentials.general, general])

  const exporter = new PrometheusExporter({ preventServerStart: true })
  const metrics = createServer((request, response) => exporter.getMetricsRequestHandler(request, response))
  await new Promise<void>((resolve) => metrics.listen(0, '127.0.0.1', resolve))
  const meter = new MeterProvider({ readers: [exporter] }).getMeter('@tokenlane/otel')
  instrumentTokens(tokens, { meter })
  // the second one counts nothing twice
  instrumentTokens(tokens, { meter })
  const prometheus = await startPrometheus(`127.0.0.1:${(metrics.address() as AddressInfo).port}`)

  const startedAt = Date.now()
  const day = { isOver: false }
  const reading = clientsOf(tokens).flatMap((call) =>
    [sandbox.apiUrl, sandbox.weblinkUrl].map(async (base) => {
      while (!day.isOver) await call(`${base}records`).catch(() => nextTurn())
    }),
  )
  const { counts } = control
  await until(() => counts().apis.general.calls >= 60 && counts().apis.weblink.calls >= 15)
  general = control.rotateSecret('general')
  await until(() => counts().issuers.general.refused >= 1)
  control.killIssuer('weblink')
  await until(() => counts().issuers.weblink.failed >= 2)
  control.restoreIssuer('weblink')
  const { issued } = counts().issuers.weblink
  await until(() => counts().issuers.weblink.issued > issued)
  const { rejected } = counts().apis.general
  // a token that is about to be renewed anyway may hide one revocation
  await until(() => {
    control.revokeTokens('general')
    return counts().apis.general.rejected > rejected
  })
  const { calls } = counts().apis.general
  await until(() => counts().apis.general.calls >= calls + 30)
  day.isOver = true
  await Promise.all(reading)

  return {
    prometheus,
    startedAt,
    counts: counts(),
    async close() {
      await tokens.close()
      await prometheus[Symbol.asyncDispose]()
      metrics.closeAllConnections()
      await new Promise((resolve) => metrics.close(resolve))
      await sandbox.close()
    },
  }
}

/** A call that fails belongs to a bad day; those that fail at once must let others go on. */
const nextTurn = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve))

/** Resolves when the service has come so far. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20))
}

type Credentials = Sandbox['credentials']['general']

function createManager(sandbox: Sandbox, general: () => Credentials[]): TokenManager {
  const { authUrl, weblinkAuthUrl, apiUrl, weblinkUrl, credentials } = sandbox
  return createTokenManager({
    issuers: {
      general: generalIssuer({ authUrl, credentials: general }),
      weblink: weblinkIssuer({
        authUrl: weblinkAuthUrl,
        credentials: { ...credentials.weblink, secretIssuedAt: new Date(Date.now() - 360 * msPerDay) },
      }),
    },
    apis: [
      {
        baseUrl: apiUrl,
        issuer: 'general',
        ratePolicy: { limits: [{ quota: 40, window: 1_000 }], spread: true },
      },
      {
        baseUrl: weblinkUrl,
        issuer: 'weblink',
        ratePolicy: { limits: [{ quota: 12, window: 1_000 }], concurrency: 4 },
      },
    ],
    store: brokenStore,
    limiter: shakyLimiter,
  })
}

const unreachable = async (): Promise<never> => {
  throw new Error('connection lost')
}
const brokenStore = sharedStore({
  claim: unreachable,
  write: unreachable,
  release: unreachable,
  drop: unreachable,
})

/** A budget that cannot be reached from the first permit on. */
const shakyLimiter: RateLimiterFactory = (api) => {
  const limiter = createRateLimiter()
  const take = limiter.take.bind(limiter)
  let hasFailed = false
  return Object.assign(limiter, {
    take(...asked: Parameters<typeof take>) {
      if (!hasFailed) api.failed('ECONNREFUSED')
      hasFailed = true
      return take(...asked)
    },
  })
}

function clientsOf(tokens: TokenManager): ((url: string) => Promise<unknown>)[] {
  const axiosClient = axios.create()
  attachTokens(axiosClient, tokens)
  const fetchWithTokens = createFetch(tokens)
  const gotClient = got.extend(gotTokens(tokens))
  const kyClient = ky.extend(kyTokens(tokens))
  return [
    (url) => axiosClient.get(url),
    async (url) => (await fetchWithTokens(url)).text(),
    (url) => gotClient(url).text(),
    (url) => kyClient(url).text(),
  ]
}
