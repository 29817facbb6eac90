import type { Driver } from '@tokenlane/conformance'

import { createFetch, type TokenlaneFetch } from '../src/index.ts'

export const driver: Driver<TokenlaneFetch> = {
  name: 'fetch',
  create: () => globalThis.fetch,
  attach: (fetch, tokens) => ({ client: createFetch(tokens, { fetch }) }),
  async send(fetch, { url, method, headers, body, signal, stream, tokenlane }) {
    const json = body?.kind === 'JSON'
    const response = await fetch(url, {
      method: method ?? 'GET',
      headers: { ...(json && { 'content-type': 'application/json' }), ...headers },
      ...(body && {
        body: (json ? JSON.stringify(body.value) : body.value) as NonNullable<RequestInit['body']>,
        duplex: 'half',
      }),
      ...(signal && { signal }),
      ...(tokenlane && { tokenlane }),
    })
    return {
      status: response.status,
      headers: response.headers,
      ...(stream === true ? { text: '', stream: response.body! } : { text: await response.text() }),
      native: response,
    }
  },
  errors: {
    isAbort: (error) => error instanceof DOMException && error.name === 'AbortError',
    isTimeout: (error) => error instanceof DOMException && error.name === 'TimeoutError',
    // Bun begins with the code
    isNetwork: (error) => error instanceof TypeError && /^(?:fetch failed$|ECONN)/.test(error.message),
    statusOf: () => undefined,
  },
  limits: {
    timeout: {
      reason: 'fetch has no timeout of its own.',
      instead: 'The signal of `AbortSignal.timeout()` ends the call wherever it is, and counts all waiting.',
    },
    retries: { reason: 'fetch never sends again.', instead: "A 503 is the caller's after 1 send." },
    httpErrors: {
      reason: 'fetch makes no error of a status.',
      instead: 'The caller gets the response with its status.',
    },
    detach: {
      reason: '`createFetch` makes a new function.',
      instead: 'The `fetch` that it was given sends no token.',
    },
  },
}
