import type { Driver } from '@tokenlane/conformance'
import type { TokenManager } from '@tokenlane/core'
import { fetchErrors, fetchLimits, sendByFetch } from '@tokenlane/testing/fetch-driver'

import { installTokens } from '../src/index.ts'

/** A process of its own, as far as its global `fetch` goes: scenarios have several clients at once. */
class Process {
  #fetch = globalThis.fetch

  install(tokens: TokenManager): { client: Process; detach: () => void } {
    const client = new Process()
    client.#fetch = this.#fetch
    const uninstall = client.#within(() => installTokens(tokens))
    return { client, detach: () => client.#within(uninstall) }
  }

  fetch(...call: Parameters<typeof fetch>): Promise<Response> {
    return this.#within(() => fetch(...call))
  }

  #within<T>(work: () => T): T {
    const outside = globalThis.fetch
    globalThis.fetch = this.#fetch
    try {
      return work()
    } finally {
      this.#fetch = globalThis.fetch
      globalThis.fetch = outside
    }
  }
}

/** The global `fetch`, where tokens are installed. */
export const installedDriver: Driver<Process> = {
  name: 'fetch in the whole process',
  create: () => new Process(),
  attach: (client, tokens) => client.install(tokens),
  send: (client, request) => sendByFetch((...call) => client.fetch(...call), request),
  errors: fetchErrors,
  limits: fetchLimits,
}
