import type { Attributes, Counter, Histogram, Meter, ObservableGauge } from '@opentelemetry/api'
import type { CallWaits, TokenlaneEvent, TokenManager } from '@tokenlane/core'
import { onTokenRequest, type TokenRequest } from './channels.ts'
import {
  instruments,
  type CounterName,
  type GaugeName,
  type HistogramName,
  type Instrument,
} from './instruments.ts'

/**
 * Records the metrics of one manager with `meter`, and returns a function that ends the recording.
 *
 * Histograms and counters follow the manager's events. Gauges are read from its status only when metrics are collected.
 */
export function recordMetrics(tokens: TokenManager, meter: Meter, common: Attributes): () => void {
  const { histogram, counter, gauge } = createInstruments(meter)
  const inFallback = new Map<string, 0 | 1>()
  const record = (name: HistogramName, ms: number, attributes: Attributes): void =>
    histogram[name].record(ms / 1_000, { ...common, ...attributes })
  const add = (name: CounterName, count: number, attributes: Attributes): void => {
    if (count > 0) counter[name].add(count, { ...common, ...attributes })
  }

  const request = ({ issuer, reason, code, duration }: TokenRequest): void =>
    record('tokenlane.token.request.duration', duration, {
      'tokenlane.issuer': issuer,
      'tokenlane.reason': reason,
      ...(code !== undefined && { 'error.type': code }),
    })
  /** The last refused request of each issuer, until its renewal fails, or succeeds with another secret. */
  const refused = new Map<string, TokenRequest>()

  const unsubscribe = onTokenRequest(tokens, (ended) => {
    if (ended.code === 'TOKEN_REQUEST_REFUSED') refused.set(ended.issuer, ended)
    else request(ended)
  })
  const unobserve = tokens.observe((event) => {
    if (event.type === 'call.finished') call(event)
    else if (event.type === 'renewal.failed') {
      const last = refused.get(event.issuer)
      refused.delete(event.issuer)
      if (last !== undefined) request(last)
    } else if (event.type === 'token.received') refused.delete(event.issuer)
    else if (event.type === 'token.renewed') {
      refused.delete(event.issuer)
      add('tokenlane.token.joiners', event.joiners, {
        'tokenlane.issuer': event.issuer,
        'tokenlane.reason': event.reason,
      })
    } else if (event.type === 'api.paused')
      record('tokenlane.api.pause.duration', event.for, { 'tokenlane.api': event.api })
    else if (event.type === 'store.failed') add('tokenlane.store.failures', 1, { 'error.type': event.reason })
    else if (event.type === 'limiter.failed') {
      inFallback.set(event.api, 1)
      add('tokenlane.limiter.failures', 1, { 'tokenlane.api': event.api })
    } else if (event.type === 'limiter.recovered') inFallback.set(event.api, 0)
  })

  function call(event: Extract<TokenlaneEvent, { type: 'call.finished' }>): void {
    const ofApi = { 'tokenlane.api': event.api }
    const ofClient = { ...ofApi, 'tokenlane.client': event.client ?? 'unknown' }
    const failure = errorType(event)
    add('tokenlane.calls', 1, failure === undefined ? ofClient : { ...ofClient, 'error.type': failure })
    for (const reason of event.resends)
      add('tokenlane.call.resends', 1, { ...ofClient, 'tokenlane.reason': reason })
    record('tokenlane.queue.wait.duration', inQueue(event.waited), ofApi)
    if (event.remainingLifetime === undefined) return
    record('tokenlane.token.remaining_lifetime', event.remainingLifetime, {
      'tokenlane.issuer': event.issuer,
    })
  }

  const gauges = Object.values(gauge)
  const observeStatus: Parameters<Meter['addBatchObservableCallback']>[0] = (result) => {
    const { issuers, apis } = tokens.status()
    const observe = (name: GaugeName, value: number | undefined, attributes: Attributes): void => {
      if (value !== undefined) result.observe(gauge[name], value, { ...common, ...attributes })
    }
    for (const [issuer, status] of Object.entries(issuers)) {
      const ofIssuer = { 'tokenlane.issuer': issuer }
      observe('tokenlane.token.live', status.token === 'live' ? 1 : 0, ofIssuer)
      observe('tokenlane.secret.days_left', status.daysLeft, ofIssuer)
    }
    for (const { baseUrl, refusesTokens, queued, running, quotaUsed } of apis) {
      const ofApi = { 'tokenlane.api': baseUrl }
      observe('tokenlane.api.refuses_tokens', refusesTokens ? 1 : 0, ofApi)
      observe('tokenlane.queue.length', queued, ofApi)
      observe('tokenlane.queue.running', running, ofApi)
      observe('tokenlane.quota.used', quotaUsed, ofApi)
      observe('tokenlane.limiter.fallback', inFallback.get(baseUrl), ofApi)
    }
  }
  meter.addBatchObservableCallback(observeStatus, gauges)

  return () => {
    unsubscribe()
    unobserve()
    meter.removeBatchObservableCallback(observeStatus, gauges)
  }
}

interface Instruments {
  readonly histogram: Readonly<Record<HistogramName, Histogram>>
  readonly counter: Readonly<Record<CounterName, Counter>>
  readonly gauge: Readonly<Record<GaugeName, ObservableGauge>>
}

function createInstruments(meter: Meter): Instruments {
  const made: Record<Instrument['kind'], Record<string, unknown>> = { histogram: {}, counter: {}, gauge: {} }
  for (const [name, instrument] of Object.entries<Instrument>(instruments)) {
    const { kind, unit, description, buckets } = instrument
    const options = {
      unit,
      description,
      ...(buckets && { advice: { explicitBucketBoundaries: [...buckets] } }),
    }
    if (kind === 'histogram') made.histogram[name] = meter.createHistogram(name, options)
    else if (kind === 'counter') made.counter[name] = meter.createCounter(name, options)
    else made.gauge[name] = meter.createObservableGauge(name, options)
  }
  return made as unknown as Instruments
}

/**
 * Returns `error.type` as the semantic conventions define it: the code of an error, or a status of 400 and more;
 * `undefined` for a success.
 */
function errorType({
  status,
  code,
}: {
  readonly status?: number
  readonly code?: string
}): string | undefined {
  if (code !== undefined) return code
  return status !== undefined && status >= 400 ? String(status) : undefined
}

function inQueue({ slot, limit, pause }: CallWaits): number {
  return slot + limit + pause
}
