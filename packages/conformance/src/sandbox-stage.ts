import {
  createTokenManager,
  generalIssuer,
  type IssuerOptions,
  type TokenManager,
  weblinkIssuer,
} from '@tokenlane/core'
import type { Sandbox } from '@tokenlane/sandbox'
import { expect, vi } from 'vitest'

import type { ClientErrors, Driver } from './driver.ts'
import { mustHaveNoListeners } from './listeners.ts'
import { printed, serialized } from './printed.ts'
import { openScriptedApi, type Script, type ScriptedApi } from './scripted-api.ts'
import { type OpenOptions, patiently, type Stage } from './stage.ts'
import { createTestClient, type TestClient } from './test-client.ts'

/** The stage of one scenario: the sandbox, and one client of its driver. */
export class SandboxStage<Client> implements Stage {
  readonly sandbox: Sandbox
  readonly errors: ClientErrors
  readonly #driver: Driver<Client>
  readonly #managers: TokenManager[] = []
  readonly #servers: ScriptedApi[] = []
  readonly #controllers: AbortController[] = []
  readonly #signals: AbortSignal[] = []
  readonly #secrets: string[] = []
  #kept: string[] = []

  constructor(driver: Driver<Client>, sandbox: Sandbox) {
    this.#driver = driver
    this.sandbox = sandbox
    this.errors = driver.errors
    for (const { clientSecret } of Object.values(sandbox.credentials)) this.#secrets.push(clientSecret)
    sandbox.control.restoreApi()
    sandbox.control.restoreIssuer()
    sandbox.control.resetCounts()
  }

  open({ ratePolicy, apis = [], observe, maxWait, tokensCome, unreachable }: OpenOptions = {}): {
    tokens: TokenManager
    client: TestClient
  } {
    const { apiUrl, weblinkUrl } = this.sandbox
    const { general, weblink } = issuersOf(this.sandbox)
    const tokens = this.keep(
      createTokenManager({
        issuers: { general, weblink: { ...weblink, maxWait } },
        apis: [
          { baseUrl: apiUrl, issuer: 'general' },
          { baseUrl: weblinkUrl, issuer: 'weblink', ratePolicy },
          ...apis.map((api) => ({ issuer: 'weblink' as const, ...api })),
        ],
        observe,
        fetch: async (input, init) => {
          if (unreachable !== undefined) throw unreachable
          const response = await this.#requestToken(input, init)
          await tokensCome
          return response
        },
      }),
    )
    return { tokens, client: this.client(tokens) }
  }

  client(tokens: TokenManager): TestClient {
    return createTestClient(this.#driver.create(), {
      driver: this.#driver,
      baseUrl: this.sandbox.weblinkUrl,
      tokens,
      keep: (outcome, kind) => {
        const hidden = kind === 'response' && this.#driver.limits?.cleanResponses !== undefined
        this.#kept.push(hidden ? serialized(outcome) : printed(outcome))
      },
    })
  }

  bare(): TestClient {
    const { weblinkUrl: baseUrl } = this.sandbox
    return createTestClient(this.#driver.create(), { driver: this.#driver, baseUrl, keep() {} })
  }

  keep(tokens: TokenManager): TokenManager {
    this.#managers.push(tokens)
    return tokens
  }

  async scripted(script?: Script): Promise<ScriptedApi> {
    const server = await openScriptedApi(script)
    this.#servers.push(server)
    return server
  }

  controller(): AbortController {
    const controller = new AbortController()
    this.#controllers.push(controller)
    this.signal(controller.signal)
    return controller
  }

  signal(signal: AbortSignal): AbortSignal {
    this.#signals.push(signal)
    return signal
  }

  async hold(client: TestClient): Promise<{ release(): Promise<void> }> {
    const before = this.calls()
    const controller = this.controller()
    const call = client.failure({ url: 'slow?ms=600000', signal: controller.signal })
    await vi.waitFor(() => expect(this.calls()).toBe(before + 1), patiently)
    return {
      async release() {
        controller.abort()
        await call
      },
    }
  }

  calls(): number {
    return this.sandbox.control.counts().apis.weblink.calls
  }

  tokenRequests(): number {
    return this.sandbox.control.counts().issuers.weblink.requests
  }

  async revoke(tokens: TokenManager): Promise<void> {
    await tokens.getToken('weblink')
    this.sandbox.control.revokeTokens('weblink')
    this.sandbox.control.resetCounts()
  }

  mustShowNoSecret(): void {
    const kept = this.#kept
    this.#kept = []
    const leaks = kept.filter((shown) => this.#secrets.some((secret) => shown.includes(secret)))
    expect(leaks.length, 'responses and errors that show a token or a secret').toBe(0)
  }

  /** Ends what the scenario opened. A failed one may have calls in flight, which an intact one must not. */
  async end({ failed }: { failed: boolean }): Promise<void> {
    try {
      if (failed) for (const controller of this.#controllers) controller.abort()
      this.sandbox.control.restoreIssuer()
      for (const tokens of this.#managers) {
        await vi.waitFor(() => expect(heldBy(tokens)).toEqual([]), patiently)
        await tokens.close()
      }
      await mustHaveNoListeners(this.#signals)
      this.mustShowNoSecret()
    } finally {
      await Promise.all(this.#servers.map((server) => server.close()))
    }
  }

  /** Learns every token, to search for it. */
  async #requestToken(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
    const response = await fetch(input, init)
    const body = (await response.clone().json()) as { access_token?: string }
    if (body.access_token !== undefined) this.#secrets.push(body.access_token)
    return response
  }
}

function heldBy(tokens: TokenManager): unknown[] {
  return tokens
    .status()
    .apis.filter(({ running = 0, queued = 0 }) => running > 0 || queued > 0)
    .map(({ baseUrl, running, queued }) => ({ baseUrl, running, queued }))
}

/** Returns the options of the sandbox's two issuers. The weblink issuer's tokens may also go to a test's own APIs without TLS. */
export function issuersOf({
  authUrl,
  weblinkAuthUrl,
  credentials,
}: Sandbox): Record<'general' | 'weblink', IssuerOptions> {
  return {
    general: generalIssuer({ authUrl, credentials: credentials.general }),
    weblink: weblinkIssuer({
      authUrl: weblinkAuthUrl,
      credentials: credentials.weblink,
      allowInsecureLoopback: true,
    }),
  }
}
