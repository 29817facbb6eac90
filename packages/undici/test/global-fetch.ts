import type { Driver, Limit } from '@tokenlane/conformance'
import type { TokenManager } from '@tokenlane/core'

import { installTokens } from '../src/index.ts'

const places = [1, 2].map((version) => Symbol.for(`undici.globalDispatcher.${version}`))
const globals = globalThis as unknown as Record<symbol, unknown>

/** A process of its own, as far as its global dispatchers go: scenarios have several clients at once. */
export class GlobalFetch {
  #dispatchers = places.map((place) => globals[place])

  install(tokens: TokenManager): { client: GlobalFetch; detach: () => void } {
    const client = new GlobalFetch()
    client.#dispatchers = this.#dispatchers
    const uninstall = client.#within(() => installTokens(tokens))
    return { client, detach: () => client.#within(uninstall) }
  }

  /** Node's own `fetch`, which looks for its dispatcher before it returns. */
  fetch(...call: Parameters<typeof fetch>): Promise<Response> {
    return this.#within(() => fetch(...call))
  }

  #within<T>(work: () => T): T {
    const outside = places.map((place) => globals[place])
    put(this.#dispatchers)
    try {
      return work()
    } finally {
      this.#dispatchers = places.map((place) => globals[place])
      put(outside)
    }
  }
}

function put(dispatchers: readonly unknown[]): void {
  for (const [index, place] of places.entries()) globals[place] = dispatchers[index]
}

const notReplayed: Limit = {
  reason: '`fetch` hands its body down as a stream, whatever it was made of.',
  instead: "The 401 is the caller's, and the next call has a new token.",
}

/** Node's own `fetch`, whose global dispatcher has the tokens. */
export const globalFetch: Driver<GlobalFetch> = {
  name: 'global fetch',
  create: () => new GlobalFetch(),
  attach: (client, tokens) => client.install(tokens),
  async send(client, { url, method, headers, body, signal, stream, tokenlane }) {
    const json = body?.kind === 'JSON'
    const response = await client.fetch(url, {
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
    isNetwork: (error) => error instanceof TypeError && error.message === 'fetch failed',
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
    callOptions: {
      reason: '`fetch` hands no option of a call down to its dispatcher.',
      instead: 'They are without effect.',
    },
    'body: string': notReplayed,
    'body: JSON': notReplayed,
    'body: URLSearchParams': notReplayed,
    'body: Buffer': notReplayed,
    'body: Uint8Array': notReplayed,
    'body: ArrayBuffer': notReplayed,
    'body: Blob': notReplayed,
    'body: FormData': notReplayed,
  },
}
