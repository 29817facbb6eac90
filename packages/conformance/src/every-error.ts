import type { IncomingMessage, ServerResponse } from 'node:http'
import { inspect } from 'node:util'

import {
  createTokenManager,
  isTokenlaneError,
  type CredentialsProvider,
  type RatePolicy,
  type TokenManager,
} from '@tokenlane/core'

import { listen } from './loopback.ts'
import { refusalIn } from './refusal.ts'
import { pathsTo, serialized } from './secrets.ts'

export { pathsTo, serialized }

const secret = 'secret-that-nobody-may-see'
const token = 'token-that-nobody-may-see'

/** How one call is made, in the words of no client. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  readonly tokenlane?: { readonly priority?: number } | undefined
}

/** A client with its tokens: sends one GET, and gives what the client gives. */
export type Send = (url: string, options: CallOptions) => Promise<unknown>

/** A way to make a call fail. */
export interface Provocation {
  readonly name: string
  /** Code of our error; without one, the failure is the client's, or an answer. */
  readonly code?: RegExp
  /** The issuer's answer. */
  readonly issuer?: (response: ServerResponse) => unknown
  /** The API's. */
  readonly api?: (response: ServerResponse, request: IncomingMessage) => unknown
  readonly credentials?: CredentialsProvider
  readonly ratePolicy?: RatePolicy
  readonly requestTimeout?: number
  readonly maxWait?: number
  readonly tokenlane?: CallOptions['tokenlane']
  /** What happens before the call. */
  readonly before?: (tokens: TokenManager, url: string) => unknown
  readonly signal?: () => AbortSignal
}

const never = (): void => {}
const status =
  (code: number, headers = {}) =>
  (response: ServerResponse): unknown =>
    response.writeHead(code, headers).end('an answer')
const oneByOne = { limits: [{ quota: 1_000, window: 1_000 }], concurrency: 1 }
const issue = (response: ServerResponse): unknown =>
  response.end(JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: 3_600 }))
/** Takes the only slot of the API. */
const occupy = async (tokens: TokenManager, url: string): Promise<unknown> => {
  await tokens.getToken('general')
  return tokens.route(url)?.admit()
}

export const provocations: readonly Provocation[] = [
  {
    name: 'an issuer that refuses, and sends back the secret',
    code: /^TOKEN_REQUEST_REFUSED$/,
    issuer: (response) =>
      response.writeHead(400).end(JSON.stringify({ error: 'invalid_client', error_description: secret })),
  },
  {
    name: 'an issuer that refuses with the secret as the reason',
    code: /^TOKEN_REQUEST_REFUSED$/,
    issuer: (response) => response.writeHead(400).end(JSON.stringify({ error: secret })),
  },
  {
    name: 'an issuer that is down, and quotes the request',
    code: /^TOKEN_REQUEST_FAILED$/,
    issuer: (response) => response.writeHead(503, { 'retry-after': '3600' }).end(`client_secret=${secret}`),
  },
  {
    name: 'an issuer that cuts the connection',
    code: /^TOKEN_REQUEST_(?:FAILED|TIMEOUT)$/,
    maxWait: 500,
    issuer: (response) => response.destroy(),
  },
  {
    name: 'an issuer that never answers',
    code: /^TOKEN_REQUEST_TIMEOUT$/,
    requestTimeout: 20,
    maxWait: 50,
    issuer: never,
  },
  {
    name: 'an issuer whose token is unusable',
    code: /^TOKEN_RESPONSE_INVALID$/,
    issuer: (response) =>
      response
        .writeHead(200, { 'retry-after': '3600' })
        .end(JSON.stringify({ access_token: `${token}\r\nx`, token_type: 'Bearer' })),
  },
  {
    name: 'a provider whose error quotes the secret',
    code: /^CREDENTIALS_UNAVAILABLE$/,
    credentials: () => {
      throw Object.assign(new Error(secret, { cause: new Error(secret) }), { secret })
    },
    maxWait: 50,
  },
  {
    name: 'a full queue',
    code: /^QUEUE_FULL$/,
    ratePolicy: { ...oneByOne, maxQueued: 0 },
    before: occupy,
  },
  {
    name: 'a wait that is too long',
    code: /^QUEUE_TIMEOUT$/,
    ratePolicy: { ...oneByOne, maxWait: 20 },
    before: occupy,
  },
  { name: 'a manager that is closed', code: /^MANAGER_CLOSED$/, before: (tokens) => tokens.close() },
  {
    name: 'wrong options of a call',
    code: /^INVALID_OPTIONS$/,
    tokenlane: { priority: 1.5 },
  },
  ...[200, 400, 401, 403, 404, 500, 503].map((code) => ({ name: `status ${code}`, api: status(code) })),
  { name: 'a connection that breaks', api: (response) => response.destroy() },
  { name: 'an answer that is not HTTP', api: (_, { socket }) => socket.end('SSH-2.0\r\n\r\n') },
  {
    name: 'an answer that ends early',
    api: (response) => {
      response.writeHead(200, { 'content-length': 100 }).write('the beginning', () => response.destroy())
    },
  },
  {
    name: 'an answer that is packed, but is not',
    api: status(200, { 'content-encoding': 'gzip' }),
  },
  {
    name: 'a redirect inside of the API',
    api: (response, { url }) =>
      status(url === '/api/there' ? 200 : 302, { location: '/api/there' })(response),
  },
  { name: 'a redirect in a circle', api: status(302, { location: '/api/records' }) },
  { name: 'a redirect to another scheme', api: status(302, { location: 'ftp://127.0.0.1/' }) },
  { name: 'a redirect to nowhere', api: status(307, { location: 'http://127.0.0.1:1/' }) },
  { name: 'a redirect that is not a URL', api: status(301, { location: 'http://[' }) },
  { name: 'an abort before the call', signal: () => AbortSignal.abort() },
  {
    name: 'an abort in flight',
    api: never,
    // well after the request has arrived, or before: both are to be safe
    signal: () => AbortSignal.timeout(100),
  },
  {
    name: 'an abort in the middle of a body',
    api: (response) => response.writeHead(200, { 'content-length': 100 }).write('the beginning'),
    signal: () => AbortSignal.timeout(100),
  },
]

/** What came of a provocation, and where a secret or a token could be read. */
export interface Outcome {
  readonly outcome: unknown
  readonly code: string | undefined
  readonly leaks: readonly string[]
}

/** Provokes an error in a client, and looks for what must not be seen in all that it leaves behind. */
export async function provoke(
  { before, signal, tokenlane, ...given }: Provocation,
  attach: (tokens: TokenManager) => Send,
): Promise<Outcome> {
  await using server = await listen((request, response) =>
    request.url === '/token'
      ? (given.issuer ?? issue)(response)
      : (given.api ?? status(200))(response, request),
  )
  const events: unknown[] = []
  const tokens = createTokenManager({
    issuers: {
      general: {
        tokenEndpoint: `${server.origin}/token`,
        credentials: given.credentials ?? { clientId: 'client-1', clientSecret: secret },
        allowInsecureLoopback: true,
        requestTimeout: given.requestTimeout,
        maxWait: given.maxWait,
      },
    },
    apis: [{ baseUrl: `${server.origin}/api/`, issuer: 'general', ratePolicy: given.ratePolicy }],
    observe: (event) => events.push(event),
  })
  const url = `${server.origin}/api/records`
  await before?.(tokens, url)
  const send = attach(tokens)
  const outcome = await send(url, { signal: signal?.(), tokenlane }).catch((error: unknown) => error)

  const ours = [...events, tokens.status(), tokens, tokens.route(url)]
  return {
    outcome,
    code: refusalIn(outcome)?.code,
    leaks: [
      ...leaksIn(ours, Infinity),
      ...leaksIn([outcome], isTokenlaneError(outcome) ? Infinity : 12),
      ...[secret, token].flatMap((text) => pathsTo(text, outcome)),
    ],
  }
}

/** The ways in which things get into logs, and those of them that show a secret or a token. */
export function leaksIn(values: readonly unknown[], depth: number): string[] {
  return values.flatMap((value) => {
    const ways = {
      log: inspect(value),
      inspect: inspect(value, {
        depth,
        // what a client hides, it may still hold
        showHidden: depth === Infinity,
        getters: depth === Infinity,
        maxArrayLength: null,
        maxStringLength: null,
      }),
      json: serialized(value),
      text: String(value),
      // as structured loggers take errors apart
      fields: serialized(asFields(value)),
    }
    return Object.entries(ways)
      .filter(([, text]) => text.includes(secret) || text.includes(token))
      .map(([way]) => `${way} of ${inspect(value, { depth: 0 }).slice(0, 80)}`)
  })
}

function asFields(value: unknown): unknown {
  if (!(value instanceof Error)) return value
  const { name, message, stack, cause } = value
  return { ...Object.fromEntries(Object.entries(value)), name, message, stack, cause: asFields(cause) }
}
