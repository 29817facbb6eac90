import { conformance, type Driver } from '@tokenlane/conformance'
import type { TokenManager } from '@tokenlane/core'
import { createFetch, FetchError, type $Fetch, type FetchOptions } from 'ofetch'

import { ofetchWithTokens } from './ofetch.ts'

/** ofetch does not show the `fetch` that it was made with, so the client is both. */
interface Client {
  readonly ofetch: $Fetch
  readonly fetch: typeof globalThis.fetch
  readonly tokens?: TokenManager
}

const causeOf = (error: unknown): unknown => (error instanceof FetchError ? error.cause : error)

/** Returns the body, where ofetch puts it. */
const read = (response: object): unknown => (response as Record<string, unknown>)['_data']

const driver: Driver<Client> = {
  name: 'ofetch',
  create: () => ({ ofetch: createFetch({ fetch: globalThis.fetch }), fetch: globalThis.fetch }),
  attach: ({ fetch }, tokens) => ({ client: { fetch, tokens, ofetch: ofetchWithTokens(tokens, fetch) } }),
  async send(
    { ofetch },
    { url, method = 'GET', headers, body, signal, retries = 0, stream, tokenlane, show },
  ) {
    const options: FetchOptions = {
      method,
      retry: retries,
      responseType: stream === true ? 'stream' : 'text',
      ...(headers && { headers }),
      ...(body && { body: body.value as NonNullable<RequestInit['body']>, duplex: 'half' as const }),
      ...(signal && { signal }),
      ...(tokenlane && { tokenlane }),
      ...(show && { onRequest: show }),
    }
    show?.(options)
    const response = await ofetch.raw(url, options)
    return {
      status: response.status,
      headers: response.headers,
      ...(stream === true
        ? { text: '', stream: read(response) as AsyncIterable<Uint8Array> }
        : { text: (read(response) as string | undefined) ?? '' }),
      native: response,
    }
  },
  errors: {
    isAbort: (error) => (causeOf(error) as Error).name === 'AbortError',
    isTimeout: (error) => (causeOf(error) as Error).name === 'TimeoutError',
    isNetwork: (error) => error instanceof FetchError && error.response === undefined,
    statusOf: (error) => (error instanceof FetchError ? error.status : undefined),
  },
  limits: {
    timeout: {
      reason: 'The timeout of ofetch ends the whole call, with all waiting.',
      instead: 'The signal of `AbortSignal.timeout()` does the same.',
    },
    tokenTimeout: {
      reason: 'The timeout of ofetch is a signal, which ends the whole call.',
      instead: 'The signal of the caller ends the wait.',
    },
    detach: {
      reason: '`ofetchWithTokens` makes a new client.',
      instead: 'The client that it was made after sends no token.',
    },
  },
}

conformance(driver)
