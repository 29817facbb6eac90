import { X509Certificate } from 'node:crypto'

import {
  isTokenlaneError,
  type TokenlaneError,
  type TokenlaneErrorCode,
  type TokenManager,
} from '@tokenlane/core'
import type { Inspection } from '@tokenlane/core/adapter'

import type { ManagerConfiguration } from '../application/application.ts'
import { reasonIn } from '../failure-code.ts'
import { type AssertionFile, audiencesOf, lookAtAssertionFile } from './assertion-file.ts'

export interface TokenFacts {
  readonly issuer: string
  /** Remaining lifetime of the token, in milliseconds; `undefined` if the token was not obtained. */
  readonly lifetime?: number
  /** Whom the token is for, if it is a JWT that says so. */
  readonly audiences?: readonly string[] | undefined
  /** Why it was not obtained; `undefined` if that took too long to be known. */
  readonly failure?: TokenFailure
  /** How long it took to get the token or the failure, in milliseconds. */
  readonly duration: number
  /** The issuer's outcome for each client of the credentials; set only if a token was obtained. */
  readonly clients?: Awaited<ReturnType<Inspection['tryClients']>>
  /** Whether every client of the credentials proves itself with an assertion from outside. */
  readonly isByAssertion?: boolean
  /** What looks wrong about fields of the credentials. */
  readonly oddities?: Awaited<ReturnType<Inspection['clients']>>[number]['oddities']
  /** When the secret was issued that the issuer accepts, else the first one, if that is known. */
  readonly secretIssuedAt?: Date | undefined
  readonly certificateUntil?: Date | undefined
  /** The files of those assertions that can be read. */
  readonly assertionFiles?: readonly AssertionFile[]
}

/** What an error or an event of core says of a failed token request. */
export interface TokenFailure {
  readonly code: TokenlaneErrorCode
  readonly reason: string
  readonly status?: number | undefined
  readonly oauthError?: string | undefined
  readonly transportCode?: string | undefined
  /** How long a pause the issuer asks for that is too long for a call, in milliseconds. */
  readonly retryAfter?: number | undefined
}

type IssuerConfiguration = ManagerConfiguration['issuers'][number]

/** How long an issuer may take in all, in milliseconds. */
const longest = 10_000

/**
 * Obtains an issuer's token, tries the other clients of its credentials, and returns the outcomes. Each client is tried
 * at most once.
 */
export async function lookAtIssuer(
  tokens: TokenManager,
  { name: issuer }: IssuerConfiguration,
  inspection: Inspection,
): Promise<TokenFacts> {
  const [token, described] = await Promise.all([
    lookAtToken(tokens, issuer),
    // a credentials provider that fails here fails for the token, too
    inspection.clients(issuer).catch(() => []),
  ])
  const [{ secretIssuedAt, certificate } = {}] = described
  const facts = {
    ...token,
    isByAssertion: described.length > 0 && described.every(({ assertion }) => assertion !== undefined),
    oddities: described.flatMap(({ oddities = [] }) => oddities),
    secretIssuedAt,
    certificateUntil:
      certificate === undefined ? undefined : new Date(new X509Certificate(certificate).validTo),
    assertionFiles: described.flatMap(({ assertion }) => lookAtAssertionFile(assertion?.path) ?? []),
  }
  if (facts.lifetime === undefined) return facts
  try {
    const clients = await inspection.tryClients(issuer)
    const accepted = clients.find(({ outcome }) => outcome === 'accepted')
    return { ...facts, ...(accepted && { secretIssuedAt: accepted.secretIssuedAt }), clients }
  } catch {
    // the credentials provider failed when it was called again
    return facts
  }
}

/**
 * Obtains an issuer's token as the application does and returns the outcome. A failed token request is not retried,
 * except with the second of two secrets.
 */
async function lookAtToken(tokens: TokenManager, issuer: string): Promise<TokenFacts> {
  const start = performance.now()
  const stop = new AbortController()
  let failure: TokenFailure | undefined
  const off = tokens.observe((event) => {
    if (event.type !== 'renewal.failed' || event.issuer !== issuer) return
    failure ??= event
    // stops the retries of core
    setImmediate(() => stop.abort())
  })
  try {
    const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(longest)])
    const { value, expiresAt } = await tokens.getToken(issuer, { signal })
    const duration = performance.now() - start
    return { issuer, lifetime: expiresAt.getTime() - Date.now(), audiences: audiencesOf(value), duration }
  } catch (error) {
    // a remembered failure makes no event, and an event has no `retryAfter`
    if (isTokenlaneError(error)) failure = { ...failureIn(error), ...failure }
    return { issuer, ...(failure && { failure }), duration: performance.now() - start }
  } finally {
    off()
  }
}

export function failureIn(error: TokenlaneError): TokenFailure {
  const { code, status, oauthError, transportCode, retryAfter } = error
  return { code, status, oauthError, transportCode, retryAfter, reason: reasonIn(error) }
}
