// Responses, errors and agents of `node:http` lead to requests and connections that have the token. Printers and
// serializers ask whatever they meet for its own form.

const inspect = Symbol.for('nodejs.util.inspect.custom')

/** Makes anything that may be a request, and its connection, print as `[request]` and `[socket]`, in JSON too. */
export function hideRequest(request: unknown): void {
  if (typeof request !== 'object' || request === null) return
  printAs('[request]', request)
  const sent = request as Partial<import('node:http').ClientRequest>
  const { socket } = sent
  if (typeof socket === 'object' && socket !== null) printAs('[socket]', socket)
  else sent.on?.('socket', (opened) => printAs('[socket]', opened))
}

function printAs(text: string, holder: object): void {
  const form = (): string => text
  // not with `defineProperty`, which slows down Node's own work with the request
  Object.assign(holder, { [inspect]: form, toJSON: form })
}

/** An agent of `node:http`, or of a package in its place. */
interface AgentLike {
  addRequest(request: object, ...options: unknown[]): void
}

/** Returns an agent for one call, whose requests are hidden from the start. The given agent is not changed. */
export function hidingAgent<T>(agent: T): T {
  const { addRequest } = (agent ?? {}) as Partial<AgentLike>
  if (typeof agent !== 'object' || typeof addRequest !== 'function') return agent
  const add: AgentLike['addRequest'] = (request, ...options) => {
    hideRequest(request)
    Reflect.apply(addRequest, agent, [request, ...options])
  }
  return Object.create(agent, { addRequest: { value: add } }) as T
}
