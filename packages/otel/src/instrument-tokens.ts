import { trace, type Attributes, type Meter, type Tracer } from '@opentelemetry/api'
import type { TokenManager } from '@tokenlane/core'
import { onMessages } from './channels.ts'
import { scopeName, scopeOf } from './meter-scope.ts'
import { recordMetrics } from './metrics.ts'
import { tracesWith } from './traces.ts'

/** Where a manager's metrics and spans go, and which attributes they get. */
export interface InstrumentOptions {
  /** @defaultValue the meter named `@tokenlane/otel` of the meter provider that is registered when something is recorded */
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

/** What every copy of this package in the process records, so that a manager is recorded by one of them only. */
const running: WeakMap<TokenManager, Instrumentation> = ((globalThis as Record<symbol, unknown>)[
  Symbol.for('@tokenlane/otel running')
] ??= new WeakMap()) as never

/**
 * Records a manager's metrics and traces, and returns a function that stops recording.
 *
 * A manager is instrumented only once, whichever copy of this package does it. Further calls with the same manager share
 * the recording, and their options are ignored. Recording stops when every returned function has been called, and does
 * not keep a manager alive. It may begin before the SDK has started. The manager of a tenant stays instrumented when it
 * is dropped and created again. A meter or tracer that throws while it records does not affect the manager's calls.
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

function start(tokens: TokenManager, given: InstrumentOptions): Instrumentation {
  // nothing that other code has added to every object
  const options = Object.assign(Object.create(null), given) as InstrumentOptions
  const { meter, tracer = trace.getTracer(scopeName), attributes = {} } = options
  const ofMetrics = recordMetrics(tokens, scopeOf(meter), attributes)
  const ofTraces = tracesWith(tracer, attributes)
  const endMessages = onMessages(tokens, {
    ...ofTraces,
    requestEnded(request) {
      ofTraces.requestEnded(request)
      ofMetrics.requestEnded(request)
    },
  })
  const end = (): void => {
    ofMetrics.end()
    endMessages()
  }
  return { users: 0, end }
}
