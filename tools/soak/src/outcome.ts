import { isTokenlaneError } from '@tokenlane/core'

interface Failure {
  readonly code?: unknown
  readonly cause?: unknown
  readonly status?: unknown
  readonly response?: { readonly status?: unknown; readonly statusCode?: unknown }
}

/** `ok`, or `status 503`. */
export function outcomeOfStatus(status: number): string {
  return status < 400 ? 'ok' : `status ${status}`
}

/** Returns an error of ours by its code, a response by its status, and else what the network or the client says. */
export function outcomeOfError(error: unknown): string {
  let code: string | undefined
  for (let next = error as Failure | undefined; next instanceof Error; next = next.cause as Failure) {
    if (isTokenlaneError(next)) return next.code
    const { response } = next as Failure
    const status = response?.status ?? response?.statusCode
    // got keeps the response of a body that broke off
    if (typeof status === 'number' && status >= 400) return `status ${status}`
    const own = (next as Failure).code
    if (typeof own === 'string' && own !== '') code = own
  }
  return code ?? (error instanceof Error ? error.name : typeof error)
}

/** Faults that explain a lost call, and how long after them it may begin, in milliseconds. */
interface Explanation {
  readonly faults: RegExp
  readonly within: number
}

/** A queue is still long for a while after a fault. */
const queueIsLong = 5_000
/** A renewal that a 401 asks for is put off by 5 s after others, believed after 1 s, and an issuer takes up to 2 s. */
const renewalIsPutOff = 5_000 + 1_000 + 2_000

/** Which faults explain a lost call. What is explained by none must not happen. */
export function explanationOf(outcome: string): Explanation | undefined {
  if (outcome === 'status 401') return { faults: /401|revoked|expired|rotated/, within: renewalIsPutOff }
  const faults = faultsBehind(outcome)
  return faults && { faults, within: queueIsLong }
}

function faultsBehind(outcome: string): RegExp | undefined {
  if (outcome === 'status 429') return /429/
  if (outcome === 'status 503') return /503/
  if (outcome.startsWith('TOKEN_')) return /issuer|link|rotated/
  if (outcome === 'QUEUE_TIMEOUT') return /429|503|slow|cut|link|headers|issuer|rotated/
  if (/^(?:E[A-Z]+|UND_ERR_\w+|ERR_\w+)$/.test(outcome)) return /link|cut/
  return undefined
}
