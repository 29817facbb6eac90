// The tracing channels of core: each message is passed to what records its manager.
import { tracingChannel } from 'node:diagnostics_channel'
import { context, type Context } from '@opentelemetry/api'
import type { CallWaits, RenewalReason, ResendReason, TokenManager } from '@tokenlane/core'

/** The message of `tokenlane:token.request`; `code` is set if the request failed. */
export interface TokenRequest {
  readonly issuer: string
  readonly reason: RenewalReason
  readonly code?: string
  /** How long the request took, in milliseconds; set once it has ended. */
  readonly duration: number
}

/** The message of `tokenlane:call`. */
interface Call {
  readonly api: string
  readonly issuer: string
  readonly resends: readonly ResendReason[]
  readonly waited: CallWaits
}

/** What records one manager. */
export interface Recorder {
  /** Returns the context in which the request is made. */
  requestBegins(request: TokenRequest): Context
  requestEnded(request: TokenRequest): void
  callBegins(call: Call): void
  callEnded(call: Call): void
}

const tokenRequests = tracingChannel('tokenlane:token.request')
const calls = tracingChannel('tokenlane:call')

// the channels live as long as the process: they must not keep a manager that the application has let go
const recorders = new WeakMap<object, Recorder>()
let recorded = 0

/** Passes the messages of one manager to `recorder`, until the returned function is called. */
export function onMessages(tokens: TokenManager, recorder: Recorder): () => void {
  recorders.set(tokens, recorder)
  recorded += 1
  if (recorded === 1) subscribe()
  return () => {
    recorders.delete(tokens)
    recorded -= 1
    if (recorded === 0) unsubscribe()
  }
}

/** A failing meter or tracer must not affect calls, and an error of a subscriber would end the process. */
function passTo<T>(record: (recorder: Recorder, message: never) => T): (message: unknown) => T | undefined {
  return (message) => {
    const recorder = recorders.get((message as { manager: object }).manager)
    try {
      return recorder && record(recorder, message as never)
    } catch {
      return undefined
    }
  }
}

const requestBegins = passTo((recorder, request: TokenRequest) => recorder.requestBegins(request))
const requestEnded = passTo((recorder, request: TokenRequest) => recorder.requestEnded(request))
const callBegins = passTo((recorder, call: Call) => recorder.callBegins(call))
const callEnded = passTo((recorder, call: Call) => recorder.callEnded(call))

// `bindStore` needs only `run`: HTTP requests that start inside it become children of the span
const activeRequest = {
  run: <T>(active: Context | undefined, work: () => T): T =>
    active === undefined ? work() : context.with(active, work),
}

function subscribe(): void {
  tokenRequests.start.bindStore(activeRequest as never, requestBegins)
  tokenRequests.asyncEnd.subscribe(requestEnded)
  calls.start.subscribe(callBegins)
  calls.asyncEnd.subscribe(callEnded)
}

function unsubscribe(): void {
  tokenRequests.start.unbindStore(activeRequest as never)
  tokenRequests.asyncEnd.unsubscribe(requestEnded)
  calls.start.unsubscribe(callBegins)
  calls.asyncEnd.unsubscribe(callEnded)
}
