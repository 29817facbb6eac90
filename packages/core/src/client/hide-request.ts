// Responses, errors and agents of `node:http` lead to requests and connections that have the token. Printers and
// serializers ask whatever they meet for its own form.

type Sent = Partial<import('node:http').ClientRequest>

const inspect = Symbol.for('nodejs.util.inspect.custom')

const asRequest = printedAs('[request]')
const asSocket = printedAs('[socket]')

/** Returns properties to assign: with `defineProperty`, Node's own work with the request is slower. */
function printedAs(text: string): object {
  const form = (): string => text
  return { [inspect]: form, toJSON: form }
}

/** Loggers such as pino print the headers of whatever they take for a response. */
function getHeaders(this: object): ReturnType<NonNullable<Sent['getHeaders']>> {
  const { authorization: _, ...others } = (Object.getPrototypeOf(this) as Sent).getHeaders?.call(this) ?? {}
  return others
}

/** Makes anything that may be a request, and its connection, print as `[request]` and `[socket]`, in JSON too. */
export function hideRequest(request: unknown): void {
  if (typeof request !== 'object' || request === null || Object.hasOwn(request, inspect)) return
  Object.assign(request, asRequest)
  const sent = request as Sent
  if (sent.getHeaders !== undefined && !Object.hasOwn(sent, 'getHeaders')) sent.getHeaders = getHeaders
  const { socket } = sent
  if (typeof socket === 'object' && socket !== null) hideSocket(socket)
  else sent.on?.('socket', hideSocket)
}

function hideSocket(socket: object): void {
  if (!Object.hasOwn(socket, inspect)) Object.assign(socket, asSocket)
}

interface AgentLike {
  addRequest(request: object, ...options: unknown[]): void
}

/** The agents that hide their requests, by the agent that they stand for. */
const hiding = new WeakMap<AgentLike, AgentLike>()

type OfCall = AgentLike & { readonly onRequest?: (request: NodeJS.EventEmitter) => void }

/**
 * Returns an agent whose requests are hidden from the start. The given agent is not changed.
 *
 * @param onRequest gets each request that is made with this agent, before it is sent.
 */
export function hidingAgent<T>(given: T, onRequest?: (request: NodeJS.EventEmitter) => void): T {
  const agent = given as T & AgentLike
  if (typeof agent !== 'object' || typeof agent?.addRequest !== 'function') return given
  let hidden = hiding.get(agent)
  if (hidden === undefined) {
    const addRequest = function (this: OfCall, request: NodeJS.EventEmitter, ...options: unknown[]): void {
      hideRequest(request)
      this.onRequest?.(request)
      agent.addRequest(request, ...options)
    }
    hidden = Object.create(agent, { addRequest: { value: addRequest } }) as AgentLike
    hiding.set(agent, hidden)
  }
  if (onRequest === undefined) return hidden as T & AgentLike
  const ofCall = Object.create(hidden) as { onRequest?: typeof onRequest }
  ofCall.onRequest = onRequest
  return ofCall as T
}
