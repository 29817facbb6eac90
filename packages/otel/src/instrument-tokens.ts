import { metrics, trace, type Attributes, type Meter, type Tracer } from '@opentelemetry/api'
import type { TokenManager } from '@tokenlane/core'
import { recordMetrics } from './metrics.ts'
import { recordTraces } from './traces.ts'

const scope = '@tokenlane/otel'

/** Where a manager's metrics and spans go, and which attributes they get. */
export interface InstrumentOptions {
  /** @defaultValue the meter named `@tokenlane/otel` of the registered meter provider */
  readonly meter?: Meter
  /** @defaultValue the tracer named `@tokenlane/otel` of the registered tracer provider */
  readonly tracer?: Tracer
  /**
   * Attributes that every metric and span gets, to distinguish several managers in one process. The values must come
   * from a short closed list, because each value creates a time series.
   *
   * @defaultValue none
   */
  readonly attributes?: Attributes
}

interface Instrumentation {
  users: number
  readonly end: () => void
}

const running = new WeakMap<TokenManager, Instrumentation>()

/**
 * Records a manager's metrics and traces, and returns a function that stops recording.
 *
 * A manager is instrumented only once. Further calls with the same manager share the recording, and their options are
 * ignored. Recording stops when every returned function has been called. A meter or tracer that throws while it records
 * does not affect the manager's calls.
 *
 * @param tokens The manager.
 * @throws the error of a meter that cannot create the metrics.
 * @example
 * ```ts
 * const uninstrument = instrumentTokens(tokens)
 * ```
 */
export function instrumentTokens(tokens: TokenManager, options: InstrumentOptions = {}): () => void {
  const instrumentation = running.get(tokens) ?? start(tokens, options)
  running.set(tokens, instrumentation)
  instrumentation.users += 1
  let isOver = false
  return () => {
    if (isOver) return
    isOver = true
    instrumentation.users -= 1
    if (instrumentation.users > 0) return
    running.delete(tokens)
    instrumentation.end()
  }
}

function start(tokens: TokenManager, options: InstrumentOptions): Instrumentation {
  const { meter = metrics.getMeter(scope), tracer = trace.getTracer(scope), attributes = {} } = options
  const endMetrics = recordMetrics(tokens, meter, attributes)
  const endTraces = recordTraces(tokens, tracer, attributes)
  const end = (): void => {
    endMetrics()
    endTraces()
  }
  return { users: 0, end }
}
