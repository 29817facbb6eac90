import type { IncomingMessage } from 'node:http'
import {
  agentSettings,
  checkCallOptions,
  hasAuthorization,
  hideRequest,
  managerOf,
  markManaged,
  mustBeManager,
  mustKeepFloor,
  TokenlaneError,
  type AdmitOptions,
  type Api,
  type Exchange,
  type Pass,
  type TokenManager,
} from '@tokenlane/core/adapter'
import type { BodyData, NeedleHttpVerbs, NeedleOptions } from 'needle'
import type { CallingOptions, Needle } from './needle.ts'

interface Call {
  readonly method: NeedleHttpVerbs
  readonly url: string
  readonly data: BodyData
  readonly options: NeedleOptions
}

/** Returns a needle that sends each call to one of the manager's APIs with a live token. */
export function withTokens<Response extends IncomingMessage>(
  send: Needle<Response>,
  tokens: TokenManager,
): Needle<Response> {
  mustBeManager(tokens, 'attach tokens to needle')
  if (managerOf(send) === tokens) return send

  const managed: Needle<Response> = async (method, url, data = null, given = {}) => {
    const api = tokens.route(url)
    if (api === undefined) return send(method, url, data, given)
    if (hasOwnCredentials(given)) {
      const response = await send(method, url, data, given)
      api.kept(response.statusCode ?? 0)
      return response
    }
    const { tokenlane, follow, follow_max: most = follow ?? 0, ...options } = given
    const { priority, resend } = checkCallOptions(tokenlane)
    mustBeSecure(api, options)

    const { signal } = options
    // needle never stops listening to the signal that it is given
    const ofCall = signal ? { signal: AbortSignal.any([signal]) } : {}
    const asked = (call: Call): AdmitOptions => ({
      client: 'needle',
      method: call.method.toUpperCase(),
      url: call.url,
      signal,
      priority,
      resend,
      replayable: !isStream(call.data),
    })
    const sendCall = (call: Call, left: number, pass?: Pass): Promise<Response> =>
      api.send(
        async (token) => {
          const made = await exchange(send, call, token)
          if (most === 0 || !isRedirect(made.result)) return made
          return { ...made, follow: (sent) => goOn(call, made.result, left, sent) }
        },
        { ...asked(call), pass },
      )
    const goOn = async (call: Call, response: Response, left: number, sent: Pass): Promise<Response> => {
      response.destroy()
      if (left === 0) throw new Error(`Max redirects reached. Possible loop in: ${response.headers.location}`)
      const next = redirected(call, response)
      if (tokens.route(next.url) === api) return sendCall(next, left - 1, await sent.follow(asked(next)))
      return send(next.method, next.url, next.data, { ...next.options, follow_max: left - 1 })
    }
    try {
      const sent = { ...options, ...ofCall, use_proxy_from_env_var: false }
      return await sendCall({ method, url, data, options: sent }, most)
    } catch (error) {
      // rejects with needle's own error, and sends nothing
      if (signal?.aborted === true && error === signal.reason) return await send(method, url, data, given)
      throw error
    }
  }
  return markManaged(managed, tokens)
}

/** Makes one HTTP exchange. */
async function exchange<Response extends IncomingMessage>(
  send: Needle<Response>,
  { method, url, data, options }: Call,
  authorization: string,
): Promise<Exchange<Response>> {
  const response = await send(method, url, data, {
    ...options,
    headers: { ...(options.headers as Record<string, string> | undefined), authorization },
    follow_max: 0,
  })
  // a response leads to its request
  hideRequest((response as { req?: unknown }).req)
  return {
    status: response.statusCode ?? 0,
    header(name) {
      const value = response.headers[name]
      return Array.isArray(value) ? value.join(', ') : value
    },
    result: response,
    discard: () => response.destroy(),
  }
}

function hasOwnCredentials({ headers = {}, username }: CallingOptions): boolean {
  return username !== undefined || hasAuthorization(headers as Record<string, string>)
}

/** @throws TokenlaneError `INSECURE_TRANSPORT` where the token could be read on its way. */
function mustBeSecure({ baseUrl }: Api, options: NeedleOptions): void {
  const agent = options.agent === true ? undefined : options.agent
  mustKeepFloor(baseUrl, { ...agentSettings(agent, 'agent'), options })
  // needle sends the call to its proxy without a tunnel
  if (options.proxy !== undefined)
    throw new TokenlaneError(
      'INSECURE_TRANSPORT',
      'Cannot send call: `proxy` of needle would show the token to the proxy; use an `agent` that tunnels',
    )
}

function isStream(data: BodyData): boolean {
  return typeof (data as { pipe?: unknown } | null)?.pipe === 'function'
}

function isRedirect({ statusCode = 0, headers }: IncomingMessage): boolean {
  return [301, 302, 303, 307, 308].includes(statusCode) && headers.location !== undefined
}

/** Returns the call that a redirect asks for, as needle makes it. */
function redirected({ method, url, data, options }: Call, { headers }: IncomingMessage): Call {
  const next = new URL(headers.location ?? '', url)
  // needle takes credentials from the URL of a call, but not from that of a redirect
  next.username = ''
  next.password = ''
  const { follow_keep_method: keeps } = options
  return {
    method: keeps === true ? method : 'get',
    data: keeps === true ? data : null,
    url: next.href,
    options: { ...options, headers: withoutCookies(options.headers, next.origin !== new URL(url).origin) },
  }
}

function withoutCookies(headers: object = {}, leaves: boolean): Record<string, string> {
  const dropped = leaves ? ['cookie', 'proxy-authorization', 'host'] : ['cookie', 'host']
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.includes(name.toLowerCase())))
}
