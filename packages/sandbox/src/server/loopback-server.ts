import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'

import { WrongValueError } from '../allowed.ts'
import type { Certificates } from './certificates.ts'
import { offeredTls, type OfferedTls } from './client-hello.ts'
import { hostIn, type Place } from './place.ts'

/** @param openedAt - when the request's connection was opened, by performance.now(). */
export type Handler = (request: IncomingMessage, response: ServerResponse, openedAt: number) => Promise<void>

/** An HTTPS server, on 127.0.0.1 unless another address was named. */
export interface LoopbackServer {
  /** Without a trailing slash, for example `https://127.0.0.1:41234`. */
  origin: string
  /** Sets the handler. It is set late, because handlers need the origin first. */
  serve(handler: Handler, onOldTls: (offered: OfferedTls) => void): void
  close(): Promise<void>
}

/** Longer than any client keeps an idle connection, so that the server never closes a connection that a client is about to use. */
const keepAliveTimeout = 120_000

/** One for all servers, so that a client that keeps one session for a host can resume it at each of them. */
const ticketKeys = randomBytes(48)

export async function openLoopbackServer(
  { key, cert }: Certificates,
  place: Place,
  port: number | undefined,
): Promise<LoopbackServer> {
  const https = createHttpsServer({ key, cert, minVersion: 'TLSv1.2', ticketKeys, keepAliveTimeout })
  let notice: ((offered: OfferedTls) => void) | undefined
  // when each connection was opened, by the client's port, which the TLS socket has too
  const openedAt = new Map<number | undefined, number>()
  // Node does not show which TLS versions a client offers, so its first bytes are read before TLS gets them
  const watched = createServer((socket) => {
    const { remotePort } = socket
    openedAt.set(remotePort, performance.now())
    socket.once('close', () => openedAt.delete(remotePort))
    socket.on('error', () => socket.destroy())
    socket.once('readable', () => {
      const first = socket.read() as Buffer | null
      if (first === null) return
      const offered = offeredTls(first)
      if (offered !== undefined && offered.old.length > 0) notice?.(offered)
      socket.unshift(first)
      https.emit('connection', socket)
    })
  })
  // TLS in Bun does not accept a socket that was read from, so old TLS versions are not noticed there
  const server = process.versions['bun'] === undefined ? watched : https
  const close = closing(server)

  return {
    origin: `https://${hostIn(place.name)}:${await listen(server, place, port)}`,
    serve(handler, onOldTls) {
      notice = onOldTls
      https.on('request', (request, response) => {
        // a handler fails when its client closes the connection during a request
        const opened = openedAt.get(request.socket.remotePort) ?? performance.now()
        handler(request, response, opened).catch(() => response.destroy())
      })
    },
    close,
  }
}

/** What a system says of an address that it does not have. */
const foreign = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT'])

/** Listens and returns the port: the given one if it is free, otherwise any free one. */
export async function listen(server: Server, place: Pick<Place, 'address'>, port = 0): Promise<number> {
  try {
    server.listen(port, place.address)
    await once(server, 'listening')
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (foreign.has(code))
      throw new WrongValueError([`"host" must be an address of this machine, not ${place.address} (${code})`])
    if (port === 0 || (code !== 'EADDRINUSE' && code !== 'EACCES')) throw error
    return listen(server, place)
  }
  return (server.address() as AddressInfo).port
}

/** Returns what closes a server and cuts its connections; Node's closeAllConnections() misses those in a TLS handshake. */
export function closing(server: Server): () => Promise<void> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return async () => {
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
}
