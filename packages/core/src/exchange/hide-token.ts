// A response, an error, a socket or an agent leads to the request that was sent, and Node keeps a request's headers for
// as long as that lives, in fields that are not documented. The tests of every client fail if Node renames one.

/** Headers, or what Node makes of them: each name with its value, or with a pair of name and value. */
export type SentHeaders = Record<string, unknown>

const redacted = '[redacted]'
const inspect = Symbol.for('nodejs.util.inspect.custom')
const asRequest = (): string => '[request]'
const asAgent = (): string => '[agent]'

/** A request of `node:http` or `node:http2` on its way. */
interface RequestUnderWay {
  /** Whether the agent had a connection for it, as Node says at once. */
  readonly reusedSocket?: boolean
  on(event: 'socket', listener: (socket: { readonly connecting?: boolean }) => void): unknown
}

/**
 * Makes a request print as `[request]`, with what holds it, while it holds the token. `console.dir` and other printers
 * that call no custom inspection show the token until `forgetToken`.
 */
export function hideToken(request: RequestUnderWay): void {
  printAsRequest(request)
  hide(request, 'headers')
  // a socket keeps what it cannot write before it is connected, and the agent leads from other calls to it
  if (request.reusedSocket === true) return
  request.on('socket', (socket) => {
    if (socket.connecting === true) hide(socket, '_pendingData')
  })
}

/**
 * Makes an agent print as `[agent]`: it leads to the requests that are under way, and they have the token. Safe to
 * call again, and with what is not an agent. Nothing else of it changes.
 */
export function hideAgent(agent: unknown): void {
  if (typeof agent !== 'object' || agent === null || Object.hasOwn(agent, inspect)) return
  // not enumerable, so that copies of an agent do not have it; a frozen agent stays as it is
  Reflect.defineProperty(agent, inspect, { value: asAgent })
  Reflect.defineProperty(agent, 'toJSON', { value: asAgent })
}

/** Makes what leads to a request print as `[request]`, to all printers that call a custom inspection. */
export function printAsRequest(request: object): void {
  // not with `defineProperty`, which slows down Node's own work with the request
  const shown = request as Record<string | symbol, unknown>
  shown[inspect] = asRequest
  shown['toJSON'] = asRequest
}

function hide(holder: object, name: string): void {
  if (Object.hasOwn(holder, name)) Object.defineProperty(holder, name, { enumerable: false })
}

/** Takes the token off headers that were sent, whichever case their names have. */
export function redactHeaders(headers: unknown): void {
  if (typeof headers !== 'object' || headers === null) return
  const fields = headers as SentHeaders
  // each by its own name: with a name in a variable, V8 takes twice the time
  const { authorization, Authorization } = fields
  if (authorization !== undefined) fields['authorization'] = redactedLike(authorization)
  if (Authorization !== undefined) fields['Authorization'] = redactedLike(Authorization)
}

function redactedLike(value: unknown): unknown {
  return Array.isArray(value) ? [value[0], redacted] : redacted
}

/** The parts of a request of `node:http` or `node:http2` that hold the headers. */
interface SentRequest {
  [field: symbol]: unknown
  ['_header']?: unknown
  outputData?: unknown[]
  readonly headers?: unknown
  readonly destroyed?: unknown
  readonly socket?:
    | {
        [field: symbol]: unknown
        readonly encrypted?: unknown
        readonly destroyed?: unknown
        ['_pendingData']?: unknown
      }
    | null
    | undefined
  /** Of a request that has the form of `node:http`, and is sent over `node:http2`. */
  readonly stream?: unknown
}

/**
 * Takes the token off a request of `node:http` or `node:http2` that was sent or given up, and off its connection. To
 * be called when the headers have left, or when the request is over; safe to call again. The request prints as
 * `[request]` from then on: its agent leads to the requests that are under way.
 */
export function forgetToken(request: unknown): void {
  if (typeof request !== 'object' || request === null) return
  const sent = request as SentRequest
  if (typeof sent['_header'] !== 'string') forgetFields(sent)
  else if (sent['_header'] !== redacted) {
    sent['_header'] = redacted
    printAsRequest(sent)
    outHeaders ??= symbolOf(sent, 'kOutHeaders')
    if (outHeaders !== undefined) redactHeaders(sent[outHeaders])
    forgetOpener(sent.socket)
  }
  // data that was never sent
  if (sent.destroyed === true && sent.outputData !== undefined) sent.outputData = []
  if (sent.socket?.destroyed === true) sent.socket['_pendingData'] = null
}

/** Takes the token off a request over HTTP/2, or one whose header was never made. */
function forgetFields(sent: SentRequest): void {
  printAsRequest(sent)
  for (const symbol of Object.getOwnPropertySymbols(sent)) redactHeaders(sent[symbol])
  redactHeaders(sent.headers)
  forgetToken(sent.stream)
}

/** A connection with TLS keeps the options of the request that opened it. */
function forgetOpener(socket: SentRequest['socket']): void {
  if (socket?.encrypted !== true) return
  connectOptions ??= symbolOf(socket, 'connect-options')
  const options = connectOptions && (socket[connectOptions] as { readonly headers?: unknown } | null)
  if (options) redactHeaders(options.headers)
}

// found once: looking for them takes longer than everything else here
let outHeaders: symbol | undefined
let connectOptions: symbol | undefined

function symbolOf(holder: object, description: string): symbol | undefined {
  return Object.getOwnPropertySymbols(holder).find((symbol) => symbol.description === description)
}
