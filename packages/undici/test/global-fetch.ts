import type { Driver, Limit } from '@tokenlane/conformance'
import type { TokenManager } from '@tokenlane/core'
import { fetchErrors, fetchLimits, sendByFetch } from '@tokenlane/testing/fetch-driver'

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
  reason: "Node's own `fetch` passes every body on as a stream, whatever its type.",
  instead: 'The caller gets the 401, and the next call has a new token.',
}

/** Node's own `fetch`, whose global dispatcher has the tokens. */
export const globalFetch: Driver<GlobalFetch> = {
  name: 'global fetch',
  create: () => new GlobalFetch(),
  attach: (client, tokens) => client.install(tokens),
  send: (client, request) => sendByFetch((...call) => client.fetch(...call), request),
  errors: fetchErrors,
  limits: {
    ...fetchLimits,
    callOptions: {
      reason: "Node's own `fetch` does not pass per-call options on to its dispatcher.",
      instead: 'The options have no effect, and the one outcome that needs them is not provoked.',
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
