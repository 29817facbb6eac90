const inspect = Symbol.for('nodejs.util.inspect.custom')

/** The header fields that got hands to Node, and keeps. */
export type SentFields = Record<string, unknown>

/** To do once the request is made, which has a copy of its own. */
export function redact(fields: SentFields): void {
  fields['authorization'] = '[redacted]'
}

const asRequest = (): string => '[request]'

/** Keeps the token out of what prints or serializes a request, or what holds on to it: answers, sockets, agents. */
export function hideToken(request: NodeJS.EventEmitter): void {
  // not with `defineProperty`, which is slower
  const shown = request as object as Record<string | symbol, unknown>
  shown[inspect] = asRequest
  shown['toJSON'] = asRequest
  // HTTP/2 has its fields here
  hide(request, 'headers')
  request.once('socket', hideUnsent)
}

/** What waits for a connection is kept by its socket, this by the agent, and that is on answers of other calls. */
function hideUnsent(socket: { readonly connecting?: boolean }): void {
  if (socket.connecting === true) hide(socket, '_pendingData')
}

function hide(holder: object, name: string): void {
  if (Object.hasOwn(holder, name)) Object.defineProperty(holder, name, { enumerable: false })
}

/** HTTP/1 has its fields in one text, which has been sent by now. Hiding it would make Node's own work slow. */
export function forgetToken(request: object): void {
  const sent = request as Record<string, unknown>
  if (typeof sent['_header'] === 'string') sent['_header'] = '[redacted]'
}
