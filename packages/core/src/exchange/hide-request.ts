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

/** The agents that hide their requests, by the agent that they stand for: a new one for each call slows down all calls. */
const hiding = new WeakMap<AgentLike, AgentLike>()

/** Returns an agent whose requests are hidden from the start. The given agent is not changed. */
export function hidingAgent<T>(given: T): T {
  const agent = given as T & AgentLike
  if (typeof agent !== 'object' || typeof agent?.addRequest !== 'function') return given
  let hidden = hiding.get(agent)
  if (hidden === undefined) {
    const addRequest: AgentLike['addRequest'] = (request, ...options) => {
      hideRequest(request)
      agent.addRequest(request, ...options)
    }
    hidden = Object.create(agent, { addRequest: { value: addRequest } }) as AgentLike
    hiding.set(agent, hidden)
  }
  return hidden as T & AgentLike
}
