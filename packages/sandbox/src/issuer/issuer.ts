import type { IncomingMessage, ServerResponse } from 'node:http'

import { sample, pause, type Latency, type Random } from '../faults/latency.ts'
import { FaultSlot, type Fault } from '../faults/fault.ts'
import { inSeconds } from '../in-words.ts'
import type { Outcome } from '../journal/entry.ts'
import type { Realm } from '../realm.ts'
import { json, problem, send, cutInBody, type Answer } from '../server/answer.ts'
import type { ServerClock } from '../server/server-clock.ts'
import type { ClientRegistration } from './client-registration.ts'
import { createCluster, type Cluster } from './cluster.ts'
import type { IssuerSettings } from './issuer-settings.ts'
import { jwksPath, metadataOf, metadataPaths } from './metadata.ts'
import { createOAuthServer, type OAuthServerOptions } from './oauth-server.ts'
import type { TokenLedger } from './token-ledger.ts'
import { judgeTokenRequest } from './token-request.ts'

/** Results of the token requests at one issuer since the start or the last reset. */
export interface IssuerCounts {
  /** Token requests that reached the issuer, including requests that met a fault. */
  requests: number
  /** Requests that were granted a token. */
  issued: number
  /** Requests that the OAuth server refused (4xx). */
  refused: number
  /** Requests that met a fault, or whose client closed the connection while the issuer was slow. */
  failed: number
}

export interface IssuerOptions extends OAuthServerOptions {
  realm: Realm
  now: () => number
  random: Random
}

/** A token endpoint: an OAuth server with faults on demand in front of it. */
export interface Issuer {
  readonly tokenEndpoint: string
  readonly settings: Required<IssuerSettings>
  readonly registration: ClientRegistration
  /** The cluster whose assertions it accepts; `undefined` without the setting `workloadIdentity`. */
  readonly cluster: Cluster | undefined
  readonly ledger: TokenLedger
  readonly faults: FaultSlot<Fault>
  readonly clock: ServerClock
  /** How long each token request is held before anything else happens. */
  slowness: Latency
  counts(): IssuerCounts
  resetCounts(): void
  handle(request: IncomingMessage, response: ServerResponse): Promise<Outcome>
}

const notPost = problem(405, 'A token request is a POST', { allow: 'POST' })
const noCounts: IssuerCounts = { requests: 0, issued: 0, refused: 0, failed: 0 }

export async function createIssuer(options: IssuerOptions): Promise<Issuer> {
  const { realm, origin, settings, registration, ledger, now, random, clock } = options
  const { clientAuthentication, tokenPath, workloadIdentity } = settings
  const subject = `system:serviceaccount:shop:${realm}`
  const workload = { origin, subject, singleUse: workloadIdentity === 'single-use' }
  const cluster = workloadIdentity === false ? undefined : createCluster(workload, () => clock.epoch())
  const oauth = await createOAuthServer(options, cluster)
  const faults = new FaultSlot<Fault>(now, random)
  let counts = { ...noCounts }

  /** Answers a request unless it meets a fault. */
  const unlessFaulty = async (
    { socket }: IncomingMessage,
    response: ServerResponse,
    answer: () => Promise<Outcome> | Outcome,
  ): Promise<Outcome> => {
    const fault = faults.take()
    if (fault === 'cut') {
      socket.destroy()
      return { decision: 'failed', reason: 'the sandbox cut the connection (killIssuer)', cut: true }
    }
    const held = sample(issuer.slowness, random)
    if (held > 0) await pause(held)
    // a request whose client closed the connection must not count as issued
    if (response.closed) {
      const reason = `the client disconnected during the issuer's delay of ${inSeconds(held)} (slowIssuer)`
      return { decision: 'left', reason }
    }
    if (fault === undefined) return answer()
    if (fault === 'cut-body') {
      cutInBody(response)
      await answer()
      const reason = 'the sandbox cut the connection in the middle of the body (killIssuer)'
      return { decision: 'failed', reason, cut: true }
    }
    send(response, fault)
    return { decision: 'failed', reason: `the sandbox responded with ${fault.status} (failIssuer)` }
  }

  const grant = async (request: IncomingMessage, response: ServerResponse): Promise<Outcome> => {
    if (request.method !== 'POST') {
      send(response, notPost)
      const reason = `a token request is a POST, not a ${request.method}`
      return { decision: 'refused', reason, flaws: ['token-request'] }
    }
    const exchange = await oauth.handle(request, response)
    const { token: entry, assertionFlaws: flaws = [] } = exchange
    if (entry !== undefined) {
      const reason = `issued ${entry.name} for ${inSeconds(entry.lifetime)}`
      return { decision: 'issued', reason, entry, flaws }
    }
    const judge = { realm, registration, clientAuthentication, takesAssertions: cluster !== undefined }
    return judgeTokenRequest(request, exchange, judge)
  }

  const issuer: Issuer = {
    tokenEndpoint: origin + tokenPath,
    settings,
    registration,
    cluster,
    ledger,
    faults,
    clock,
    slowness: 0,
    counts: () => ({ ...counts }),
    resetCounts() {
      counts = { ...noCounts }
    },
    async handle(request, response) {
      const path = request.url?.split('?', 1)[0] ?? ''
      const reply = (answer: Answer, outcome: Outcome): Outcome => {
        send(response, answer)
        return outcome
      }
      if (metadataPaths.includes(path)) {
        if (settings.metadata)
          return unlessFaulty(request, response, () =>
            reply(json(metadataOf(origin, settings, options.tokenFormat === 'jwt')), {
              decision: 'answered',
              reason: "the issuer's metadata",
            }),
          )
        return reply(problem(404, 'This issuer publishes no metadata'), {
          decision: 'answered',
          reason: 'no metadata: this issuer is set up without it (option --metadata)',
          flaws: ['no-metadata'],
        })
      }
      if (cluster !== undefined && path === '/cluster/openid/v1/jwks')
        return reply(json(cluster.jwks()), { decision: 'answered', reason: "the cluster's keys" })
      const showsKeys = settings.metadata || Object.keys(settings.claims).length > 0
      if (path === jwksPath && options.tokenFormat === 'jwt' && showsKeys)
        return reply(json(oauth.jwks), { decision: 'answered', reason: 'the keys for its tokens' })
      if (request.method === 'HEAD')
        return reply(notPost, { decision: 'answered', reason: 'a HEAD request, which asks for no token' })
      if (path !== tokenPath)
        return reply(problem(404, `The token endpoint is ${tokenPath}`), {
          decision: 'refused',
          reason: `unknown path: the token endpoint is ${tokenPath}`,
          flaws: ['token-request'],
        })
      counts.requests += 1
      const outcome = await unlessFaulty(request, response, () => grant(request, response))
      const { decision } = outcome
      counts[decision === 'issued' || decision === 'refused' ? decision : 'failed'] += 1
      return outcome
    },
  }
  return issuer
}
