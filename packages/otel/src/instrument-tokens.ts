import { metrics, trace, type Attributes, type Meter, type Tracer } from '@opentelemetry/api'
import type { TokenManager } from '@tokenlane/core'
import { recordMetrics } from './metrics.ts'
import { recordTraces } from './traces.ts'

const scope = '@tokenlane/otel'

/** Where metrics and spans of one manager go. */
export interface InstrumentOptions {
  /** @defaultValue the meter of the registered meter provider, named `@tokenlane/otel` */
  readonly meter?: Meter
  /** @defaultValue the tracer of the registered tracer provider, named `@tokenlane/otel` */
  readonly tracer?: Tracer
  /**
   * Attributes that every metric and span gets, to tell several managers of one process apart. The values must come
   * from a short closed list, since each is a series of its own.
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
 * Records metrics and traces of what a manager does, until the function that it returns is called.
 *
 * A manager is instrumented once: a further call records nothing twice, ignores its options, and the recording ends when
 * every returned function has been called. A meter or tracer that throws while it records changes nothing for the calls.
 *
 * @param tokens The manager.
 * @throws whatever the meter throws when it creates the metrics.
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
