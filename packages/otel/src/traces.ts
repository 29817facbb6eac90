import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Span,
  type Tracer,
} from '@opentelemetry/api'
import type { Recorder } from './channels.ts'

/**
 * Records the traces of one manager with `tracer`.
 *
 * Each token request becomes a span without a parent, since all calls share it. A call adds to the span that is active
 * when it begins: an event for each cause of waiting, an event for each resend, and a link to the token request that
 * it waited for.
 */
export function tracesWith(tracer: Tracer, common: Attributes): Recorder {
  /** The span of the last token request, by issuer. */
  const lastRequests = new Map<string, Span>()
  const requests = new WeakMap<object, Span>()
  const callers = new WeakMap<object, Span>()
  return {
    requestBegins(request) {
      const { issuer, reason } = request
      const span = tracer.startSpan('tokenlane.token.request', {
        root: true,
        kind: SpanKind.INTERNAL,
        attributes: { ...common, 'tokenlane.issuer': issuer, 'tokenlane.reason': reason },
      })
      requests.set(request, span)
      lastRequests.set(issuer, span)
      return trace.setSpan(ROOT_CONTEXT, span)
    },
    requestEnded(request) {
      const span = requests.get(request)
      if (span === undefined) return
      if (request.code !== undefined) {
        span.setAttribute('error.type', request.code)
        span.setStatus({ code: SpanStatusCode.ERROR, message: request.code })
      }
      span.end()
    },
    callBegins(call) {
      const span = trace.getActiveSpan()
      if (span !== undefined) callers.set(call, span)
    },
    callEnded(call) {
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
    },
  }
}
