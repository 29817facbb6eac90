import type { Attributes } from '@opentelemetry/api'
import type { CallWaits, Observer, TokenlaneEvent, TokenManager } from '@tokenlane/core'
import type { TokenRequest } from './channels.ts'
import type { CounterName, HistogramName } from './instruments.ts'
import type { MeterScope } from './meter-scope.ts'

/**
 * Records the metrics of one manager in `scope`, until `end` is called. `requestEnded` takes its token requests.
 *
 * Histograms and counters follow the manager's events. Gauges are read from its status only when metrics are collected.
 */
export function recordMetrics(
  tokens: TokenManager,
  scope: MeterScope,
  common: Attributes,
): { requestEnded(request: TokenRequest): void; end(): void } {
  scope.instruments()
  const { observer, requestEnded, inFallback } = recordingIn(scope, common)
  const source = { tokens: new WeakRef(tokens), common, inFallback }
  scope.sources.add(source)
  const unobserve = tokens.observe(observer)
  return {
    requestEnded,
    end() {
      unobserve()
      scope.remove(source)
    },
  }
}

function recordingIn(scope: MeterScope, common: Attributes) {
  const inFallback = new Map<string, 0 | 1>()
  const record = (name: HistogramName, ms: number, attributes: Attributes): void =>
    scope.instruments().histogram[name].record(ms / 1_000, { ...common, ...attributes })
  const add = (name: CounterName, count: number, attributes: Attributes): void => {
    if (count > 0) scope.instruments().counter[name].add(count, { ...common, ...attributes })
  }

  const recordRequest = ({ issuer, reason, code, duration }: TokenRequest): void =>
    record('tokenlane.token.request.duration', duration, {
      'tokenlane.issuer': issuer,
      'tokenlane.reason': reason,
      ...(code !== undefined && { 'error.type': code }),
    })
  /** The last refused request of each issuer, until its renewal fails, or succeeds with another secret. */
  const refused = new Map<string, TokenRequest>()

  function recordCall(event: Extract<TokenlaneEvent, { type: 'call.finished' }>): void {
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

  const observer: Observer = (event) => {
    if (event.type === 'call.finished') recordCall(event)
    else if (event.type === 'renewal.failed') {
      const last = refused.get(event.issuer)
      refused.delete(event.issuer)
      if (last !== undefined) recordRequest(last)
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
  }

  const requestEnded = (request: TokenRequest): void => {
    if (request.code === 'TOKEN_REQUEST_REFUSED') refused.set(request.issuer, request)
    else recordRequest(request)
  }
  return { observer, requestEnded, inFallback }
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
