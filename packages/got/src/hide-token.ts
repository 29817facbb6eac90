const inspect = Symbol.for('nodejs.util.inspect.custom')

/** The fields that got hands to Node, and keeps. */
export type SentHeaders = Record<string, unknown>

/** A request has its own copy of the fields, so that nobody needs these once it is made. */
export function redact(headers: SentHeaders): void {
  headers['authorization'] = '[redacted]'
}

/** Keeps the token out of what prints or serializes a request, or what holds on to it: answers, sockets, agents. */
export function hideToken(request: object, headers: SentHeaders): void {
  redact(headers)
  Object.defineProperty(request, inspect, { value: () => '[request]', configurable: true })
  // HTTP/1 has the one, HTTP/2 the other
  for (const name of ['_header', 'headers'])
    if (Object.hasOwn(request, name)) Object.defineProperty(request, name, { enumerable: false })
}
