import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'

import type { Certificates } from './certificates.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** An HTTPS server on a free port of 127.0.0.1. */
export interface LoopbackServer {
  /** Without a trailing slash, for example `https://127.0.0.1:41234`. */
  origin: string
  /** Says who answers, once it is known: the handlers need the origin first. */
  serve(handler: Handler): void
  /** Ends at once: open connections are cut, whatever they are doing. */
  close(): Promise<void>
}

/** Longer than any client keeps an idle connection, so that none is closed under a request that starts. */
const keepAliveTimeout = 120_000

export async function openLoopbackServer({ key, cert }: Certificates): Promise<LoopbackServer> {
  const server = createServer({ key, cert, minVersion: 'TLSv1.2', keepAliveTimeout })
  // closeAllConnections() of Node misses sockets that are still in their TLS handshake
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  return {
    origin: `https://127.0.0.1:${port}`,
    serve(handler) {
      server.on('request', (request, response) => {
        // a handler fails when its client is gone in mid-request
        handler(request, response).catch(() => response.destroy())
      })
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
