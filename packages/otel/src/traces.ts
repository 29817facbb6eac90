import {
  context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type Tracer,
} from '@opentelemetry/api'
import type { TokenManager } from '@tokenlane/core'
import { calls, only, onTokenRequest, tokenRequests, type Call, type TokenRequest } from './channels.ts'

/**
 * Records the traces of one manager with `tracer`, and returns a function that ends the recording.
 *
 * Each token request becomes a span without a parent, since all calls share it. A call adds to the span that is active
 * when it begins: an event for each cause of waiting, an event for each resend, and a link to the token request that
 * it waited for.
 */
export function recordTraces(tokens: TokenManager, tracer: Tracer, common: Attributes): () => void {
  /** The span of the last token request, by issuer. */
  const lastRequests = new Map<string, Span>()
  const requests = new WeakMap<object, Span>()
  const callers = new WeakMap<object, Span>()

  const beginRequest = ({ issuer, reason }: TokenRequest): Span =>
    tracer.startSpan('tokenlane.token.request', {
      root: true,
      kind: SpanKind.INTERNAL,
      attributes: { ...common, 'tokenlane.issuer': issuer, 'tokenlane.reason': reason },
    })

  const endRequest = (request: TokenRequest): void => {
    const span = requests.get(request)
    if (span === undefined) return
    if (request.code !== undefined) {
      span.setAttribute('error.type', request.code)
      span.setStatus({ code: SpanStatusCode.ERROR, message: request.code })
    }
    span.end()
  }

  const beginCall = (call: Call): void => {
    const span = trace.getActiveSpan()
    if (span !== undefined) callers.set(call, span)
  }

  const endCall = (call: Call): void => {
    const span = callers.get(call)
    if (span?.isRecording() !== true) return
    const ofApi = { 'tokenlane.api': call.api }
    for (const [cause, ms] of Object.entries(call.waited))
      if (ms > 0)
        span.addEvent('tokenlane.wait', {
          ...ofApi,
          'tokenlane.reason': cause,
          'tokenlane.wait.duration': ms / 1_000,
        })
    for (const [index, reason] of call.resends.entries())
      span.addEvent('tokenlane.resend', {
        ...ofApi,
        'tokenlane.reason': reason,
        'http.request.resend_count': index + 1,
      })
    const request = call.waited.token > 0 ? lastRequests.get(call.issuer) : undefined
    if (request !== undefined) span.addLink({ context: request.spanContext() })
  }

  // `bindStore` needs only `run`: HTTP requests that start inside it become children of the span
  const activeRequest = {
    run: <T>(active: Context | undefined, work: () => T): T =>
      active === undefined ? work() : context.with(active, work),
  }
  const enterRequest = (message: unknown): Context | undefined => {
    let active: Context | undefined
    only(tokens, (request: TokenRequest) => {
      const span = beginRequest(request)
      requests.set(request, span)
      lastRequests.set(request.issuer, span)
      active = trace.setSpan(ROOT_CONTEXT, span)
    })(message)
    return active
  }
  const atCallStart = only(tokens, beginCall)
  const atCallEnd = only(tokens, endCall)

  tokenRequests.start.bindStore(activeRequest as never, enterRequest)
  const unsubscribe = onTokenRequest(tokens, endRequest)
  calls.start.subscribe(atCallStart)
  calls.asyncEnd.subscribe(atCallEnd)
  return () => {
    tokenRequests.start.unbindStore(activeRequest as never)
    unsubscribe()
    calls.start.unsubscribe(atCallStart)
    calls.asyncEnd.unsubscribe(atCallEnd)
  }
}
