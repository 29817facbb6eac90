import { Agent, request as httpsRequest, type RequestOptions } from 'node:https'
import type { IncomingHttpHeaders } from 'node:http'

import type { Realm, Sandbox } from '../src/index.ts'

/** A response that has arrived as a whole. */
export interface Received {
  status: number
  headers: IncomingHttpHeaders
  text: string
  /** The body as JSON. */
  json: Record<string, unknown>
}

export interface Sent {
  method?: string
  headers?: Record<string, string>
  body?: string | Buffer
  signal?: AbortSignal
  tls?: RequestOptions
}

const agents = new WeakMap<Sandbox, Agent>()

function agentOf(sandbox: Sandbox): Agent {
  const agent = agents.get(sandbox) ?? new Agent({ ca: sandbox.ca, keepAlive: true })
  agents.set(sandbox, agent)
  return agent
}

/** One exchange by plain `node:https`, without redirects or retries. */
export async function exchange(sandbox: Sandbox, url: string, sent: Sent = {}): Promise<Received> {
  const { method = 'GET', body, signal, tls } = sent
  const headers = { ...sent.headers }
  return new Promise((resolve, reject) => {
    // Node frames the body of a DELETE only if its length is given
    if (body !== undefined) headers['content-length'] = `${Buffer.byteLength(body)}`
    const options = { agent: agentOf(sandbox), method, headers, ...(signal && { signal }), ...tls }
    const request = httpsRequest(url, options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          get json() {
            return JSON.parse(text) as Record<string, unknown>
          },
        })
      })
    })
    request.on('error', reject)
    request.end(body)
  })
}

/** Fields of a form; `undefined` leaves a field out. */
type Form = Record<string, string | undefined>

export function tokenEndpoint(sandbox: Sandbox, realm: Realm): string {
  return realm === 'general'
    ? `${sandbox.authUrl}/public/security/v1/token`
    : `${sandbox.weblinkAuthUrl}/IdentityServer/connect/token`
}

/** A token request as the issuer documents it, with some form fields changed. */
export function requestToken(
  sandbox: Sandbox,
  realm: Realm,
  changed: Form = {},
  sent: Sent = {},
): Promise<Received> {
  const { clientId, clientSecret } = sandbox.credentials[realm]
  const form: Form = {
    client_id: clientId,
    client_secret: clientSecret,
    grant_type: 'client_credentials',
    scope: realm === 'weblink' ? 'WebLinkAPI' : undefined,
    ...changed,
  }
  const fields = Object.entries(form).filter((field): field is [string, string] => field[1] !== undefined)
  return exchange(sandbox, tokenEndpoint(sandbox, realm), {
    method: 'POST',
    body: new URLSearchParams(fields).toString(),
    ...sent,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...sent.headers },
  })
}

export async function tokenOf(sandbox: Sandbox, realm: Realm): Promise<string> {
  const { json } = await requestToken(sandbox, realm)
  return json['access_token'] as string
}

/** A call with a token, to a path relative to the API's base URL. */
export function callApi(
  sandbox: Sandbox,
  realm: Realm,
  { path = 'status/200', token, ...sent }: Sent & { path?: string; token?: string },
): Promise<Received> {
  const baseUrl = realm === 'general' ? sandbox.apiUrl : sandbox.weblinkUrl
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return exchange(sandbox, baseUrl + path, { ...sent, headers: { ...authorization, ...sent.headers } })
}
