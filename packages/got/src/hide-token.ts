const inspect = Symbol.for('nodejs.util.inspect.custom')

/** The header fields that got hands to Node, and keeps. */
export type SentFields = Record<string, unknown>

/** To do once the request is made, which has a copy of its own. */
export function redact(fields: SentFields): void {
  fields['authorization'] = '[redacted]'
}

/** Keeps the token out of what prints or serializes a request, or what holds on to it: answers, sockets, agents. */
export function hideToken(request: object): void {
  Object.defineProperty(request, inspect, { value: () => '[request]', configurable: true })
  // HTTP/1 has the one, HTTP/2 the other
  for (const name of ['_header', 'headers'])
    if (Object.hasOwn(request, name)) Object.defineProperty(request, name, { enumerable: false })
}
