import tls from 'node:tls'

import { createTokenManager, type TokenManager, type TokenManagerOptions } from '@tokenlane/core'
import { issuersOf } from '@tokenlane/conformance'
import { startSandbox, type Sandbox } from '@tokenlane/sandbox'
import { afterAll, beforeEach } from 'vitest'

/** The sandbox, as the tests of one file use it. */
export interface Service {
  readonly sandbox: Sandbox
  /** A manager of both issuers, and of both APIs unless `options` say otherwise. */
  createManager(options?: Partial<TokenManagerOptions>): TokenManager
  /** A URL below the weblink API. */
  weblink(path: string): string
  /** A URL of the weblink API's origin that belongs to no API. */
  outside(): string
  /** A URL of the weblink API that redirects to another one. */
  redirect(to: string, status?: number): string
  /** Calls that reached the weblink API. */
  calls(): number
  /** Token requests that reached the weblink issuer. */
  tokenRequests(): number
  /**
   * Makes the weblink token that a manager holds a revoked one, and starts the counts.
   *
   * @returns that token.
   */
  revoke(tokens: TokenManager): Promise<string>
}

/** Starts the sandbox for this file; each test finds it without faults and with its counts at 0. */
export async function openService(): Promise<Service> {
  const sandbox = await startSandbox({ records: 10 })
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), sandbox.ca])
  const { control, apiUrl, weblinkUrl } = sandbox
  const managers: TokenManager[] = []
  // what waits for them would keep timers in the next file
  afterAll(async () => {
    const closed = managers.map((tokens) => tokens.close({ timeout: 1_000 }))
    await sandbox.close()
    await Promise.all(closed)
  })
  beforeEach(() => {
    control.restoreApi()
    control.restoreIssuer()
    control.resetCounts()
  })

  const weblink = (path: string): string => weblinkUrl + path
  return {
    sandbox,
    createManager(options) {
      const tokens = createTokenManager({
        issuers: issuersOf(sandbox),
        apis: [
          { baseUrl: apiUrl, issuer: 'general' },
          { baseUrl: weblinkUrl, issuer: 'weblink' },
        ],
        ...options,
      })
      managers.push(tokens)
      return tokens
    },
    weblink,
    outside: () => new URL('/outside/page', weblinkUrl).href,
    redirect: (to, status = 302) => weblink(`redirect?to=${encodeURIComponent(to)}&status=${status}`),
    calls: () => control.counts().apis.weblink.calls,
    tokenRequests: () => control.counts().issuers.weblink.requests,
    async revoke(tokens) {
      const { value } = await tokens.getToken('weblink')
      control.revokeTokens('weblink')
      control.resetCounts()
      return value
    },
  }
}
