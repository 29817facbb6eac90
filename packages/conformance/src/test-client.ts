import type { TokenlaneError, TokenManager } from '@tokenlane/core'
import { expect } from 'vitest'

import { type Driver, refusalIn, type ScenarioRequest, type ScenarioResponse } from './driver.ts'

/** A client in a scenario. A relative `url` is one of the weblink API. */
export interface TestClient {
  send(request: ScenarioRequest): Promise<ScenarioResponse>
  /** The status of the response, also where the client makes an error of it. */
  status(request: ScenarioRequest): Promise<number>
  /** What the call rejects with; fails if it does not. */
  failure(request: ScenarioRequest): Promise<unknown>
  /** The error of ours that the call rejects with, or that is the cause of the client's. */
  refusal(request: ScenarioRequest): Promise<TokenlaneError>
  attachAgain(): TestClient
  detach: (() => void) | undefined
}

export interface TestClientOptions<Client> {
  readonly driver: Driver<Client>
  readonly baseUrl: string
  /** Without it the client is a bare one. */
  readonly tokens?: TokenManager
  /** Is shown every response and every error. */
  readonly keep: (outcome: unknown, kind: 'response' | 'error') => void
}

export function createTestClient<Client>(
  given: Client,
  { driver, baseUrl, tokens, keep }: TestClientOptions<Client>,
): TestClient {
  const { client, detach } = tokens === undefined ? { client: given } : driver.attach(given, tokens)

  const send = async (request: ScenarioRequest): Promise<ScenarioResponse> => {
    // such a call is the bare client's, and so is what it shows
    const ownAuthorization = request.headers?.['authorization'] !== undefined
    try {
      const response = await driver.send(client, { ...request, url: new URL(request.url, baseUrl).href })
      if (!ownAuthorization) keep(response.native, 'response')
      return response
    } catch (error) {
      if (!ownAuthorization) keep(error, 'error')
      throw error
    }
  }
  const failure = (request: ScenarioRequest): Promise<unknown> =>
    send(request).then(
      () => expect.fail('the call succeeded'),
      (error: unknown) => error,
    )

  return {
    send,
    failure,
    async status(request) {
      try {
        return (await send(request)).status
      } catch (error) {
        const status = driver.errors.statusOf(error)
        if (status === undefined) throw error
        return status
      }
    },
    async refusal(request) {
      return refusalIn(await failure(request)) ?? expect.fail('the call failed, but not by an error of ours')
    },
    attachAgain: () => createTestClient(client, { driver, baseUrl, keep, ...(tokens && { tokens }) }),
    detach,
  }
}
