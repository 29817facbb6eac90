import type { Api, TokenManager } from '@tokenlane/core/adapter'
import type { InternalAxiosRequestConfig } from 'axios'

type BeforeRedirect = NonNullable<InternalAxiosRequestConfig['beforeRedirect']>

export interface RedirectContext {
  readonly api: Api
  readonly tokens: TokenManager
  readonly method: string
  /** Called when a redirect changed the method: what a POST did before must not be done twice. */
  readonly acted: () => void
}

/** How axios follows the redirects of one attempt: the token goes along for as long as they stay in the API. */
export interface RedirectRule {
  readonly beforeRedirect: BeforeRedirect
  /**
   * The status of the first redirect that dropped the token, `undefined` without one. The final response says nothing
   * about the token then, so that this status is reported in its place.
   */
  readonly judgedBy: () => number | undefined
}

/** @param given The caller's own hook, which runs first. */
export function redirectRule(
  { api, tokens, method, acted }: RedirectContext,
  authorization: string,
  given: BeforeRedirect | undefined,
): RedirectRule {
  let judgedBy: number | undefined
  return {
    judgedBy: () => judgedBy,
    beforeRedirect(options, response, request) {
      const asked = destinationOf(options)
      given?.(options, response, request)
      // `href` does not show where the caller's hook sends it instead
      const asAsked = destinationOf(options) === asked
      const stays = judgedBy === undefined && asAsked && tokens.route(String(options['href'])) === api
      if (options['method'] !== method) acted()
      if (stays) return
      dropToken(authorization, options['headers'])
      judgedBy ??= response.statusCode
    },
  }
}

function destinationOf(options: Record<string, unknown>): string {
  return ['href', 'protocol', 'hostname', 'host', 'port', 'path', 'socketPath']
    .map((name) => String(options[name]))
    .join(' ')
}

export function dropToken(authorization: string, headers: unknown): void {
  const fields = Object(headers) as Record<string, unknown>
  for (const name of Object.keys(fields)) if (fields[name] === authorization) delete fields[name]
}
