import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer, type ServerOptions } from 'node:https'
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net'

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

/** Makes a certificate for loopback or another host, which is valid from yesterday for `days` days. */
export async function certificate({ days = 90, host = 'localhost' } = {}): Promise<ServerOptions> {
  const until = new Date(Date.now() + days * day)
  const { cert, private: key } = await generate([{ name: 'commonName', value: host }], {
    ...curve,
    ca: { key: authority.private, cert: authority.cert },
    notBeforeDate: new Date(Math.min(Date.now(), until.getTime()) - day),
    notAfterDate: until,
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

/** Starts a proxy that tunnels to where `targets` says, else to the host that is asked for. */
export async function tunnelProxy(targets: Readonly<Record<string, string>> = {}): Promise<string> {
  const server = createServer()
  server.on('connect', ({ url = '' }: { url?: string }, client: Socket) => {
    const [host = '', port] = (targets[url] ?? url).split(':')
    const way = connect(Number(port), host, () => client.write('HTTP/1.1 200 OK\r\n\r\n'))
    for (const socket of [way, client]) socket.on('error', () => socket.destroy())
    way.pipe(client).pipe(way)
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
