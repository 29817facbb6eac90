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

/** Which faults explain a lost call. What is explained by none must not happen. */
export function explanationOf(outcome: string): RegExp | undefined {
  if (outcome === 'status 401') return /401|revoked|expired|rotated/
  if (outcome === 'status 429') return /429/
  if (outcome === 'status 503') return /503/
  if (outcome.startsWith('TOKEN_')) return /issuer|link|rotated/
  if (outcome === 'QUEUE_TIMEOUT') return /429|503|slow|cut|link|headers|issuer|rotated/
  if (/^(?:E[A-Z]+|UND_ERR_\w+|ERR_\w+)$/.test(outcome)) return /link|cut/
  return undefined
}
