import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'

import {
  errors,
  Provider,
  type ClientMetadata,
  type Configuration,
} from 'oidc-provider'

/** An authorization server that grants client credentials (RFC 6749 §4.4), and counts what it is asked for. */
export interface AuthorizationServer {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
  /** Returns whether a token lives, and was issued for a resource. */
  isLive(token: string, resource: string): Promise<boolean>
  revokeAll(): Promise<void>
  /** Answers everything with 503 for so many milliseconds from the next request on. */
  breakDown(ms: number): void
  readonly counts: { tokenRequests: number; discoveries: number }
}

/** Makes an authorization server of oidc-provider. A token request takes `delay` milliseconds. */
export function createAuthorizationServer(
  issuer: string,
  clients: ClientMetadata[],
  resources: readonly string[],
  delay: number,
): AuthorizationServer {
  const provider = new Provider(issuer, {
    clients,
    clientAuthMethods: [
      'client_secret_basic',
      'client_secret_post',
      'private_key_jwt',
    ],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo(_context, resource) {
          if (!resources.includes(resource)) throw new errors.InvalidTarget()
          return {
            scope: 'tools',
            audience: resource,
            accessTokenFormat: 'opaque',
          }
        },
      },
    },
    scopes: ['tools'],
    ttl: { ClientCredentials: () => 3_600 },
  } satisfies Configuration)
  const issued = new Set<{ destroy(): Promise<void> }>()
  provider.on('client_credentials.saved', (token) => issued.add(token))
  provider.silent = true
  const handle = provider.callback()
  const counts = { tokenRequests: 0, discoveries: 0 }
  let brokenFor = 0
  let brokenUntil = 0

  return {
    counts,
    async handle(request, response) {
      const isTokenRequest = request.method === 'POST'
      if (isTokenRequest) counts.tokenRequests += 1
      else counts.discoveries += 1
      if (brokenFor > 0) {
        brokenUntil = performance.now() + brokenFor
        brokenFor = 0
      }
      if (isTokenRequest) await pause(delay)
      if (performance.now() < brokenUntil) response.writeHead(503).end()
      else await handle(request, response)
    },
    async isLive(text, resource) {
      const token = await provider.ClientCredentials.find(text)
      return token?.isValid === true && token.aud === resource
    },
    async revokeAll() {
      await Promise.all(Array.from(issued, (token) => token.destroy()))
      issued.clear()
    },
    breakDown(ms) {
      brokenFor = ms
    },
  }
}
