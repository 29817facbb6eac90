import type { ScenarioResponse, Driver, ScenarioRequest } from '@tokenlane/conformance'

type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** Sends the call of a scenario with a `fetch`, of whatever kind. */
export async function sendByFetch(
  fetch: Fetch,
  { url, method, headers, body, signal, stream, tokenlane, show }: ScenarioRequest,
): Promise<ScenarioResponse> {
  const json = body?.kind === 'JSON'
  const init = {
    method: method ?? 'GET',
    headers: { ...(json && { 'content-type': 'application/json' }), ...headers },
    ...(body && {
      body: (json ? JSON.stringify(body.value) : body.value) as NonNullable<RequestInit['body']>,
      duplex: 'half' as const,
    }),
    ...(signal && { signal }),
    ...(tokenlane && { tokenlane }),
  }
  show?.(init)
  return responseOf(await fetch(url, init), stream)
}

/** Returns the response of a `fetch`, or of a client that gives its caller one, as the scenarios read it. */
export async function responseOf(response: Response, stream: boolean | undefined): Promise<ScenarioResponse> {
  return {
    status: response.status,
    headers: response.headers,
    ...(stream === true ? { text: '', stream: response.body! } : { text: await response.text() }),
    native: response,
  }
}

/** Recognizes the errors of the runtime's own `fetch`. */
export const fetchErrors: Driver<unknown>['errors'] = {
  isAbort: (error) => error instanceof DOMException && error.name === 'AbortError',
  isTimeout: (error) => error instanceof DOMException && error.name === 'TimeoutError',
  // Bun begins with the code
  isNetwork: (error) => error instanceof TypeError && /^(?:fetch failed$|ECONN)/.test(error.message),
  statusOf: () => undefined,
}

/** What no `fetch` can do. */
export const fetchLimits = {
  timeout: {
    reason: 'fetch has no timeout of its own.',
    instead:
      'A signal from `AbortSignal.timeout()` ends the call at any stage, and its time includes all waiting.',
  },
  tokenTimeout: {
    reason: 'fetch has no timeout of its own.',
    instead:
      'A signal from `AbortSignal.timeout()` ends the call at any stage, and its time includes all waiting.',
  },
  retries: { reason: 'fetch never retries.', instead: 'The caller gets a 503 after 1 send.' },
  httpErrors: {
    reason: 'fetch does not turn a status into an error.',
    instead: 'The caller gets the response with its status.',
  },
} as const satisfies Driver<unknown>['limits']
