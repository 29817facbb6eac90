import {
  metrics,
  type Attributes,
  type BatchObservableResult,
  type Counter,
  type Histogram,
  type Meter,
  type MeterProvider,
  type ObservableGauge,
} from '@opentelemetry/api'
import type { TokenManager } from '@tokenlane/core'
import {
  instruments,
  type CounterName,
  type GaugeName,
  type HistogramName,
  type Instrument,
} from './instruments.ts'

export const scopeName = '@tokenlane/otel'

/** What the gauges of one manager are read from. */
export interface GaugeSource {
  /** Weak, since a meter lives as long as the process: it must not keep a manager that the application has let go. */
  readonly tokens: WeakRef<TokenManager>
  readonly common: Attributes
  /** For each API whose shared rate budget has ever failed, whether it does now. */
  readonly inFallback: ReadonlyMap<string, 0 | 1>
}

type Histograms = Readonly<Record<HistogramName, Histogram>>
type Counters = Readonly<Record<CounterName, Counter>>
type Gauges = Readonly<Record<GaugeName, ObservableGauge>>

/** The metrics of one meter, which all managers that record there share. */
export class MeterScope {
  /** Those whose gauges are read when metrics are collected. */
  readonly sources: Set<GaugeSource> = new Set()
  readonly #providerNow: () => Pick<MeterProvider, 'getMeter'>
  #made:
    | { readonly provider: unknown; readonly histogram: Histograms; readonly counter: Counters; end(): void }
    | undefined

  /** @param providerNow is asked at each use, since the metrics API has no meter before an SDK registers its own. */
  constructor(providerNow: () => Pick<MeterProvider, 'getMeter'>) {
    this.#providerNow = providerNow
  }

  /** Throws the error of a meter that cannot create a metric. */
  instruments(): { readonly histogram: Histograms; readonly counter: Counters } {
    const provider = this.#providerNow()
    if (this.#made?.provider === provider) return this.#made
    const meter = provider.getMeter(scopeName)
    const { histogram, counter, gauge } = createInstruments(meter)
    const gauges = Object.values(gauge)
    const observe = (result: BatchObservableResult): void => this.#observe(result, gauge)
    meter.addBatchObservableCallback(observe, gauges)
    this.#made?.end()
    const end = (): void => meter.removeBatchObservableCallback(observe, gauges)
    this.#made = { provider, histogram, counter, end }
    return this.#made
  }

  /** Takes a manager out; a meter without any gets its callback back. */
  remove(source: GaugeSource): void {
    this.sources.delete(source)
    if (this.sources.size > 0) return
    this.#made?.end()
    this.#made = undefined
  }

  #observe(result: BatchObservableResult, gauge: Gauges): void {
    for (const source of this.sources) {
      const status = source.tokens.deref()?.status()
      if (status === undefined) {
        this.sources.delete(source)
        continue
      }
      const observe = (name: GaugeName, value: number | undefined, attributes: Attributes): void => {
        if (value !== undefined) result.observe(gauge[name], value, { ...source.common, ...attributes })
      }
      for (const [issuer, { token, daysLeft }] of Object.entries(status.issuers)) {
        const ofIssuer = { 'tokenlane.issuer': issuer }
        observe('tokenlane.token.live', token === 'live' ? 1 : 0, ofIssuer)
        observe('tokenlane.secret.days_left', daysLeft, ofIssuer)
      }
      for (const { baseUrl, refusesTokens, queued, running, quotaUsed, limits = [] } of status.apis) {
        const ofApi = { 'tokenlane.api': baseUrl }
        observe('tokenlane.api.refuses_tokens', refusesTokens ? 1 : 0, ofApi)
        observe('tokenlane.queue.length', queued, ofApi)
        observe('tokenlane.queue.running', running, ofApi)
        observe('tokenlane.quota.used', quotaUsed, ofApi)
        for (const { name, quota, used } of limits)
          if (name !== undefined && used !== undefined)
            observe('tokenlane.limit.used', Math.min(1, used / quota), { ...ofApi, 'tokenlane.limit': name })
        observe('tokenlane.limiter.fallback', source.inFallback.get(baseUrl), ofApi)
      }
    }
  }
}

const registered = new MeterScope(() => metrics.getMeterProvider())
const given = new WeakMap<Meter, MeterScope>()

/** Returns the scope of a meter; without one, that of whichever meter provider is registered. */
export function scopeOf(meter: Meter | undefined): MeterScope {
  if (meter === undefined) return registered
  const provider = { getMeter: () => meter }
  const scope = given.get(meter) ?? new MeterScope(() => provider)
  given.set(meter, scope)
  return scope
}

function createInstruments(meter: Meter): {
  readonly histogram: Histograms
  readonly counter: Counters
  readonly gauge: Gauges
} {
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
  return made as never
}
