import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
  type DataPoint,
  type Histogram,
} from '@opentelemetry/sdk-metrics'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'

/** Makes spans follow asynchronous work in this process, as an SDK does at its start. */
export function enableContext(): void {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
}

/** A real SDK whose metrics stay in memory. */
export function recordMetricsInMemory() {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 30 })
  const provider = new MeterProvider({ readers: [reader] })
  return {
    provider,
    meter: provider.getMeter('test'),
    /** Returns every series as it is now, by the name of its metric. */
    async series(): Promise<Map<string, DataPoint<number | Histogram>[]>> {
      exporter.reset()
      await reader.forceFlush()
      const [{ scopeMetrics } = { scopeMetrics: [] }] = exporter.getMetrics()
      const metrics = scopeMetrics.flatMap((scope) => scope.metrics)
      return new Map(
        metrics.map(({ descriptor, dataPoints }) => [
          descriptor.name,
          dataPoints as DataPoint<number | Histogram>[],
        ]),
      )
    },
  }
}

/** A real SDK whose spans stay in memory. */
export function recordSpansInMemory() {
  const exporter = new InMemorySpanExporter()
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
  return { provider, tracer: provider.getTracer('test'), spans: () => exporter.getFinishedSpans() }
}

/** Forgets what was registered for the whole process. */
export function disableContext(): void {
  context.disable()
  trace.disable()
  propagation.disable()
}
