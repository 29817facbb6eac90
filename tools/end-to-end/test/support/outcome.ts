import { isTokenlaneError } from '@tokenlane/core'

/** Returns an error of ours by its code, a response by its status, and else what the network or the client says. */
export function outcomeOf(error: unknown): string {
  let code: string | undefined
  for (let next = error; next instanceof Error; next = next.cause) {
    if (isTokenlaneError(next)) return next.code
    const { response, code: own } = next as Error & {
      response?: { status?: number; statusCode?: number }
      code?: unknown
    }
    const status = response?.status ?? response?.statusCode
    // got keeps the response of a body that broke off
    if (status !== undefined && status >= 400) return `status ${status}`
    if (typeof own === 'string' && own !== '') code = own
  }
  return code ?? (error instanceof Error ? error.name : typeof error)
}
