import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createTlsServer, type ServerOptions } from 'node:https'
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net'
import { text as bodyOf } from 'node:stream/consumers'
import { createServer as createSecureServer } from 'node:tls'

import { generate } from 'selfsigned'

const curve = { keyType: 'ec', algorithm: 'sha256' } as const
const day = 86_400_000

const authority = await generate([{ name: 'commonName', value: 'Test authority' }], {
  ...curve,
  extensions: [
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', keyCertSign: true, critical: true },
  ],
})

/** Certificate of the authority that signs what `certificate` makes. */
export const testAuthority = authority.cert

/** Makes a certificate for loopback or another host, which is valid from day `from` to day `days` from now on. */
export async function certificate({ from = -1, days = 90, host = 'localhost' } = {}): Promise<{
  cert: string
  key: string
}> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: host }], {
    ...curve,
    ca: { key: authority.private, cert: authority.cert },
    notBeforeDate: new Date(Date.now() + from * day),
    notAfterDate: new Date(Date.now() + days * day),
    extensions: [
      {
        name: 'subjectAltName',
        altNames: host === 'localhost' ? [{ type: 7, ip: '127.0.0.1' }] : [{ type: 2, value: host }],
      },
    ],
  })
  return { cert, key }
}

/** Starts a TLS server on loopback, and returns its URL. */
export async function tlsServer(listener: RequestListener, options?: ServerOptions): Promise<string> {
  const server = createTlsServer(options ?? (await certificate()), listener)
  return `https://127.0.0.1:${await listen(server)}`
}

/** An authorization server that gives any client this response to a token request. */
export function tokenServer(
  status: number,
  body: object | string,
  headers: Readonly<Record<string, string>> = {},
): RequestListener {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const type = typeof body === 'string' ? 'text/html' : 'application/json'
  return (_request, response) => response.writeHead(status, { 'content-type': type, ...headers }).end(text)
}

/** An authorization server that gives any client a JWT for the `resource` that it asks for, or for this audience. */
export function audienceServer(audience: string): RequestListener {
  const respond = async (...[request, response]: Parameters<RequestListener>): Promise<void> => {
    const aud = new URLSearchParams(await bodyOf(request)).get('resource') ?? audience
    const claims = Buffer.from(JSON.stringify({ aud })).toString('base64url')
    const token = { access_token: `e30.${claims}.c2ln`, token_type: 'bearer', expires_in: 3_600 }
    tokenServer(200, token)(request, response)
  }
  return (request, response) => void respond(request, response)
}

/**
 * An API at `/orders` that takes tokens for itself alone and publishes its metadata: there, or where its challenge says.
 */
export function resourceServer(place = '/.well-known/oauth-protected-resource/orders'): RequestListener {
  return ({ url, headers }, response) => {
    const resource = `https://${headers.host}/orders`
    if (url === place)
      return response.setHeader('content-type', 'application/json').end(JSON.stringify({ resource }))
    if (url?.startsWith('/.well-known/')) return response.writeHead(404).end()
    const [, claims = ''] = headers.authorization?.split('.') ?? []
    if (Buffer.from(claims, 'base64url').toString().includes(`"${resource}"`)) return response.end('a record')
    const challenge = `Bearer error="invalid_token", error_description="another audience", resource_metadata="https://${headers.host}${place}"`
    return response.writeHead(401, { 'www-authenticate': challenge }).end()
  }
}

/** A port of loopback at which nothing listens. */
export async function deadPort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** A server that responds to every request in the same way, with a plain text. */
export function plainServer(
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): RequestListener {
  return (_request, response) =>
    response.writeHead(status, { ...(text && { 'content-type': 'text/plain' }), ...headers }).end(text)
}

/** An authorization server that takes one client by `client_secret_basic`, and does not decode what it sends. */
export function undecodingServer(clientId: string, clientSecret: string): RequestListener {
  const known = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`
  const token = { access_token: 'token-of-a-test', token_type: 'bearer', expires_in: 3_600 }
  const accept = tokenServer(200, token)
  const refuse = tokenServer(401, { error: 'invalid_client' })
  return (request, response) => {
    const { authorization = known } = request.headers
    return (authorization === known ? accept : refuse)(request, response)
  }
}

/** A server that accepts connections, and sends nothing. Returns its port. */
export async function silentPort(): Promise<number> {
  return listen(createTcpServer())
}

interface ProxySettings {
  /** Where a tunnel leads to, by what is asked for; else to the host that is asked for. */
  readonly targets?: Readonly<Record<string, string>>
  /** The status with which it refuses every tunnel. */
  readonly status?: number
  /** The `user:password` that it wants. */
  readonly client?: string
}

/** Starts a proxy that opens tunnels, and returns its URL. */
export async function tunnelProxy({ targets = {}, status, client }: ProxySettings = {}): Promise<string> {
  const server = createServer()
  server.on('connect', ({ url = '', headers }: IncomingMessage, socket: Socket) => {
    socket.on('error', () => socket.destroy())
    const given = headers['proxy-authorization']
    const isKnown = client === undefined || given === `Basic ${Buffer.from(client).toString('base64')}`
    if (status !== undefined || !isKnown) {
      socket.end(`HTTP/1.1 ${status ?? 407} No\r\nProxy-Authenticate: Basic realm="a test"\r\n\r\n`)
      return
    }
    const [host = '', port] = (targets[url] ?? url).split(':')
    const way = connect(Number(port), host, () => socket.write('HTTP/1.1 200 OK\r\n\r\n'))
    way.on('error', () => way.destroy())
    way.pipe(socket).pipe(way)
  })
  return `http://127.0.0.1:${await listen(server)}`
}

/** Starts a way to a Redis whose clock is ahead of the real one, and returns its URL. */
export async function redisWithClock(url: string, seconds: number): Promise<string> {
  const { hostname, port } = new URL(url)
  const server = createTcpServer((client) => {
    const way = connect(Number(port), hostname)
    for (const socket of [way, client]) socket.on('error', () => socket.destroy())
    client.pipe(way)
    way.on('data', (data: Buffer) => {
      // what TIME returns within a script: two texts, the seconds and the microseconds
      const text = data
        .toString('latin1')
        .replace(/\$10\r\n(\d{10})\r\n(?=\$\d\r\n\d{1,6}\r\n)/, (_, time: string) => {
          return `$10\r\n${Number(time) + seconds}\r\n`
        })
      client.write(Buffer.from(text, 'latin1'))
    })
  })
  return `redis://127.0.0.1:${await listen(server)}`
}

/** Starts a way to a Redis by TLS, and returns its URL. */
export async function redisWithTls(url: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const server = createSecureServer(await certificate(), (client) => {
    const way = connect(Number(port), hostname)
    for (const socket of [way, client]) socket.on('error', () => socket.destroy())
    client.pipe(way).pipe(client)
  })
  return `rediss://127.0.0.1:${await listen(server)}`
}

const closers: (() => void)[] = []

/** Closes every server that was started here. */
export function closeServers(): void {
  for (const close of closers.splice(0)) close()
}

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}
