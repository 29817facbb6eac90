/** Header fields as given: converting them before `fetch` does would lower-case and reorder the names. */
export type HeaderFields = Headers | Readonly<Record<string, string | readonly string[]>> | string[][]

/** Returns a copy of headers, which the caller may change while the call waits; a TypeError for what `fetch` refuses. */
export function copyOfFields(given: RequestInit['headers']): HeaderFields {
  if (given === undefined) return {}
  if (isHeaders(given)) return new (given.constructor as typeof Headers)(given)
  if (typeof given !== 'object' || given === null) return new Headers(given)
  if (!(Symbol.iterator in given)) return { ...given }
  // what is no pair is for `fetch` to refuse
  return Array.from(given as Iterable<string[]>, (pair) => (Array.isArray(pair) ? [...pair] : pair))
}

/** Whether the fields include the caller's own `Authorization`. An empty one, as generated clients set it, is none. */
export function hasAuthorization(fields: HeaderFields): boolean {
  if (isHeaders(fields)) return Boolean(fields.get('authorization'))
  const pairs = Array.isArray(fields) ? fields : Object.entries(fields)
  return pairs.some((pair) => isAuthorization(pair?.[0]) && String(pair?.[1]).trim() !== '')
}

function isAuthorization(name: unknown): boolean {
  return String(name).toLowerCase() === 'authorization'
}

/** Returns a copy with the token, so that only the request that is sent has it. */
export function withToken(fields: Headers, authorization: string): Headers
export function withToken(fields: HeaderFields, authorization: string): HeaderFields
export function withToken(fields: HeaderFields, authorization: string): HeaderFields {
  if (Array.isArray(fields))
    return [...fields.filter((pair) => !isAuthorization(pair?.[0])), ['authorization', authorization]]
  if (!isHeaders(fields)) {
    const copy: Record<string, string | readonly string[]> = { ...fields }
    for (const name of Object.keys(copy)) if (isAuthorization(name)) delete copy[name]
    copy['authorization'] = authorization
    return copy
  }
  const copy = new (fields.constructor as typeof Headers)(fields)
  copy.set('authorization', authorization)
  return copy
}

function isHeaders(fields: HeaderFields | RequestInit['headers']): fields is Headers {
  // happy-dom's have no tag
  return tagOf(fields) === 'Headers' || fields instanceof Headers
}

/** Returns the tag of an object, which is the same for objects of other packages, such as undici. */
function tagOf(value: unknown): unknown {
  return (value as { readonly [Symbol.toStringTag]?: unknown } | undefined)?.[Symbol.toStringTag]
}

/** Returns the platform's class of a `Request`: subclasses may take other arguments, and another package has its own. */
export function requestClass(request: Request): typeof Request {
  let prototype: object = request
  while (!Object.hasOwn(prototype, Symbol.toStringTag)) prototype = Object.getPrototypeOf(prototype)
  return prototype.constructor as typeof Request
}

/** Returns where a request is sent, whatever a subclass or a property of its own says in the place of `url`. */
export function urlOf(request: Request): string {
  return Reflect.get(requestClass(request).prototype, 'url', request)
}

type Probe = new (request: Request, init: RequestInit) => Request

/** By class of `Request`: its error if a body that was made of a stream is sent in the mode `no-cors`. */
const refusals = new WeakMap<Probe, string | undefined>()

/**
 * Whether the body of a request can be sent again. Node's class refuses `no-cors` for a body that was made of a stream, and
 * only then looks whether the body is locked. Where another runtime's does not, every body counts as one that can.
 *
 * @see https://fetch.spec.whatwg.org/#dom-request steps 39 and 40
 */
export function isReplayableRequest(request: Request): boolean {
  if (request.body === null) return true
  const Class = requestClass(request)
  if (!refusals.has(Class)) {
    const init = { method: 'POST', body: new ReadableStream(), duplex: 'half' as const }
    refusals.set(Class, refusalOf(new Class('https://localhost', init)))
  }
  const refusal = refusals.get(Class)
  return refusal === undefined || refusalOf(request) !== refusal
}

function refusalOf(request: Request): string | undefined {
  const reader = request.body?.getReader()
  try {
    void new (requestClass(request))(request, { method: 'POST', mode: 'no-cors' })
  } catch (error) {
    return (error as Error).message
  } finally {
    reader?.releaseLock()
  }
  return undefined
}

const replayableTags = new Set<unknown>(['URLSearchParams', 'Blob', 'File', 'FormData', 'ArrayBuffer'])

export function isReplayable(body: unknown): boolean {
  return (
    typeof body !== 'object' ||
    body === null ||
    ArrayBuffer.isView(body) ||
    // the `form-data` package gives its tag to a Node stream
    (!('pipe' in body) && replayableTags.has(tagOf(body)))
  )
}
