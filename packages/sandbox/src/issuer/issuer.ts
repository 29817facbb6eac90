import type { IncomingMessage, ServerResponse } from 'node:http'

import { problem, send, type Answer } from '../server/answer.ts'
import type { ClientRegistration } from './client-registration.ts'
import { createFaultSlot, type FaultSlot } from '../faults/fault.ts'
import { createOAuthServer, type OAuthServer } from './oauth-server.ts'
import { pause } from '../faults/random-delay.ts'
import type { TokenLedger } from './token-ledger.ts'

/** What happened to the token requests of one issuer since the start or the last reset. */
export interface IssuerCounts {
  /** Token requests that reached the issuer, those that met a fault included. */
  requests: number
  /** Requests that got a token. */
  issued: number
  /** Requests that the OAuth server refused (4xx). */
  refused: number
  /** Requests that met a fault, or whose client left while the issuer was slow. */
  failed: number
}

/** The answer that requests get instead of the OAuth server's, or a cut connection. */
type IssuerFault = Answer | 'kill'

export interface IssuerOptions {
  origin: string
  tokenPath: string
  scope: string | undefined
  tokenFormat: 'jwt' | 'opaque'
  registration: ClientRegistration
  ledger: TokenLedger
  now: () => number
}

/** One token endpoint: an OAuth server behind faults on demand. */
export interface Issuer {
  readonly registration: ClientRegistration
  readonly ledger: TokenLedger
  readonly faults: FaultSlot<IssuerFault>
  /** How long each token request is held before anything else happens, in milliseconds. */
  slowness: number
  readonly verify: OAuthServer['verify']
  counts(): IssuerCounts
  resetCounts(): void
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
}

const noCounts: IssuerCounts = { requests: 0, issued: 0, refused: 0, failed: 0 }

export async function createIssuer(options: IssuerOptions): Promise<Issuer> {
  const { tokenPath, registration, ledger, now } = options
  const oauth = await createOAuthServer(options)
  const faults = createFaultSlot<IssuerFault>(now)
  let counts = { ...noCounts }

  const issuer: Issuer = {
    registration,
    ledger,
    faults,
    slowness: 0,
    verify: (token) => oauth.verify(token),
    counts: () => ({ ...counts }),
    resetCounts() {
      counts = { ...noCounts }
    },
    async handle(request, response) {
      if (request.url?.split('?', 1)[0] !== tokenPath) {
        return send(response, problem(404, `The token endpoint is ${tokenPath}`))
      }
      counts.requests += 1
      const fault = faults.take()
      if (fault === 'kill') {
        counts.failed += 1
        request.socket.destroy()
        return
      }
      if (issuer.slowness > 0) await pause(issuer.slowness)
      // a client that stopped waiting must not be counted as one that got a token
      if (fault !== undefined || response.closed) {
        counts.failed += 1
        return send(response, fault ?? problem(503, 'The client left'))
      }
      if (request.method !== 'POST') {
        counts.refused += 1
        return send(response, problem(405, 'A token request is a POST', { allow: 'POST' }))
      }
      await oauth.handle(request, response)
      if (response.statusCode === 200) counts.issued += 1
      else if (response.statusCode < 500) counts.refused += 1
      else counts.failed += 1
    },
  }
  return issuer
}
