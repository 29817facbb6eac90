// The service, the manager and the clients of one test: every test of this folder gets them anew.
import { createHash } from 'node:crypto'
import { getEventListeners, once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import type { ApiStatus, TokenManager } from '@tokenlane/core'
import { openService, type Service } from '@tokenlane/testing'
import got, { RequestError, type ExtendOptions, type Got } from 'got'
import { afterEach, beforeEach, expect, vi } from 'vitest'

import { gotTokens } from '../src/index.ts'

export let sandbox: Service['sandbox']
export let createManager: Service['createManager']
export let outside: Service['outside']
export let calls: Service['calls']
export let tokenRequests: Service['tokenRequests']
export let revoke: Service['revoke']

export let tokens: TokenManager
export let bare: Got
export let client: Got
export let controller: AbortController

/** Starts the service for the file that calls this at its top. */
export async function useService(): Promise<void> {
  ;({ sandbox, createManager, outside, calls, tokenRequests, revoke } = await openService())

  beforeEach(() => {
    tokens = managerFor(sandbox.weblinkUrl)
    bare = got.extend({ prefixUrl: sandbox.weblinkUrl, retry: { limit: 0 } })
    client = bare.extend(gotTokens(tokens))
    controller = new AbortController()
  })

  // whatever happened to the calls: they hold nothing
  afterEach(async () => {
    const free = (): boolean => line()?.running === 0 && line()?.queued === 0
    const unheard = (): boolean => getEventListeners(controller.signal, 'abort').length === 0
    await vi.waitUntil(() => free() && unheard(), { timeout: 5_000 })
    await tokens.close()
  })
}

export function managerFor(weblinkUrl: string): TokenManager {
  return createManager({
    apis: [
      { baseUrl: sandbox.apiUrl, issuer: 'general' },
      {
        baseUrl: weblinkUrl,
        issuer: 'weblink',
        ratePolicy: { limits: [{ quota: 1_000, window: 1_000 }], concurrency: 1 },
      },
    ],
  })
}

export const bytes = Buffer.from('héllo wörld')
export const sha256 = createHash('sha256').update(bytes).digest('hex')
export const line = (): ApiStatus | undefined => tokens.status().apis[1]
export const failApi = (status: number, times: number, retryAfter = 0): void =>
  sandbox.control.failApi('weblink', { status, times, retryAfter })
/** Two retries of got's own, without their delay. */
export const retry = { limit: 2, calculateDelay: ({ computedValue = 0 }) => Math.min(computedValue, 1) }
export const failure = (call: Promise<unknown>): Promise<RequestError> =>
  call.then(
    () => expect.fail('the call succeeded'),
    (error: unknown) => error as RequestError,
  )

/** A server of this test's own, and what it saw. */
export async function serve(
  answer: Parameters<typeof createServer>[1],
): Promise<{ url: string; stop(): void }> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Takes the only slot of the API. */
export async function occupy(): Promise<() => void> {
  const pass = await tokens.route(sandbox.weblinkUrl)?.admit()
  return () => pass?.release()
}

/** Puts another manager and its client in the place of the test's own. */
export async function use(manager: TokenManager, options: ExtendOptions = {}): Promise<void> {
  await tokens.close()
  tokens = manager
  client = bare.extend(gotTokens(manager), options)
}
