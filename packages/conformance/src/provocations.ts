import type { IncomingMessage, ServerResponse } from 'node:http'

import type { CredentialsProvider, RatePolicy, TokenManager } from '@tokenlane/core'

/** The client secret of every provocation. */
export const secret = 'secret-that-nobody-may-see'
/** The access token of every provocation. */
export const token = 'token-that-nobody-may-see'

/** A way to make a call fail. */
export interface Provocation {
  readonly name: string
  /** Code of our error; without one, the failure is the client's, or a response. */
  readonly code?: RegExp
  /** The issuer's response. */
  readonly issuer?: (response: ServerResponse) => unknown
  /** The API's. */
  readonly api?: (response: ServerResponse, request: IncomingMessage) => unknown
  readonly credentials?: CredentialsProvider
  readonly ratePolicy?: RatePolicy
  readonly requestTimeout?: number
  readonly maxWait?: number
  readonly tokenlane?: { readonly priority?: number } | undefined
  /** What happens before the call. */
  readonly before?: (tokens: TokenManager, url: string) => unknown
  readonly signal?: () => AbortSignal
}

const never = (): void => {}
/** Responds with a status. */
export const status =
  (code: number, headers = {}) =>
  (response: ServerResponse): unknown =>
    response.writeHead(code, headers).end('a response')
const oneByOne = { limits: [{ quota: 1_000, window: 1_000 }], concurrency: 1 }
/** Responds with the token. */
export const issue = (response: ServerResponse): unknown =>
  response.end(JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: 3_600 }))
/** Takes the only slot of the API. */
const occupy = async (tokens: TokenManager, url: string): Promise<unknown> => {
  await tokens.getToken('general')
  return tokens.route(url)?.admit()
}

/** The ways that are tried with every client. */
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
    name: 'an issuer that never responds',
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
  { name: 'a response that is not HTTP', api: (_, { socket }) => socket.end('SSH-2.0\r\n\r\n') },
  {
    name: 'a response that ends early',
    api: (response) => {
      response.writeHead(200, { 'content-length': 100 }).write('the beginning', () => response.destroy())
    },
  },
  {
    name: 'a response that is packed, but is not',
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
