import type { Api, TokenManager } from '@tokenlane/core/adapter'
import type { InternalAxiosRequestConfig } from 'axios'

type BeforeRedirect = NonNullable<InternalAxiosRequestConfig['beforeRedirect']>

/** How axios follows the redirects of one attempt. */
export interface RedirectRule {
  readonly beforeRedirect: BeforeRedirect
  /**
   * Returns the status of the first redirect that dropped the token or changed the method, `undefined` without one. The
   * final response says nothing about the token then, so that this status is reported in its place.
   */
  readonly judgedBy: () => number | undefined
}

export interface RedirectContext {
  readonly authorization: string
  readonly api: Api
  readonly tokens: TokenManager
  readonly method: string
  /** The caller's own hook. */
  readonly given: BeforeRedirect | undefined
}

/** Lets the token go along for as long as redirects stay in the API. Runs after the caller's own hook. */
export function redirectRule({ authorization, api, tokens, method, given }: RedirectContext): RedirectRule {
  let judgedBy: number | undefined
  return {
    judgedBy: () => judgedBy,
    beforeRedirect(options, response, request) {
      const place = placeOf(options)
      given?.(options, response, request)
      // `href` does not show where the caller's hook sends it instead
      const asTold = placeOf(options) === place
      const stays = judgedBy === undefined && asTold && tokens.route(String(options['href'])) === api
      if (!stays) drop(authorization, options['headers'] as Record<string, unknown>)
      // what a POST did before it was redirected to a GET must not be done twice either
      if (!stays || options['method'] !== method) judgedBy ??= response.statusCode
    },
  }
}

function placeOf(options: Record<string, unknown>): string {
  return ['href', 'protocol', 'hostname', 'host', 'port', 'path', 'socketPath']
    .map((name) => String(options[name]))
    .join(' ')
}

/** Leaves what the caller's hook may have put in the place of the token. */
function drop(authorization: string, headers: Record<string, unknown>): void {
  for (const name of Object.keys(headers)) if (headers[name] === authorization) delete headers[name]
}
