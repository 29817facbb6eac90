// An API of streams behind client credentials: events, WebSocket and gRPC, with what issues their tokens.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'

import {
  Server as GrpcServer,
  ServerCredentials,
  status,
  type handleUnaryCall,
  type ServiceDefinition,
} from '@grpc/grpc-js'
import { createTokenManager, type TokenManager } from '@tokenlane/core'
import { generate } from 'selfsigned'
import { WebSocketServer } from 'ws'

export interface StreamService extends AsyncDisposable {
  /** Stream of events: GET returns them as they come. */
  readonly eventsUrl: string
  readonly socketUrl: string
  /** Host and port of the gRPC server. */
  readonly grpcTarget: string
  /** Certificate (PEM) that the gRPC server shows, which signs itself. */
  readonly grpcCa: string
  readonly counts: { tokenRequests: number; refused: number }
  /** Streams that are open now. */
  openStreams(): number
  /** Sends an event to every stream. */
  announce(data: string): void
  cutStreams(): void
  revokeTokens(): void
  /** Refuses every token from now on. */
  refuseAll(): void
  /** Returns a manager of these APIs. */
  createManager(): TokenManager<'streams'>
}

/** What the gRPC server offers: the text that it is sent, back again. */
export const echoService = {
  echo: {
    path: '/example.Echo/Echo',
    requestStream: false,
    responseStream: false,
    requestSerialize: (text: string) => Buffer.from(text),
    requestDeserialize: String,
    responseSerialize: (text: string) => Buffer.from(text),
    responseDeserialize: String,
  },
} satisfies ServiceDefinition

export async function startStreamService(): Promise<StreamService> {
  const live = new Set<string>()
  const counts = { tokenRequests: 0, refused: 0 }
  const streams = new Set<ServerResponse>()
  const past: string[] = []
  let refusesAll = false

  const accepts = (authorization: unknown): boolean => {
    const isLive =
      !refusesAll && live.has(String(authorization).replace(/^Bearer /, ''))
    if (!isLive) counts.refused += 1
    return isLive
  }
  const issue = (response: ServerResponse): void => {
    counts.tokenRequests += 1
    const token = randomUUID()
    live.add(token)
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        access_token: token,
        token_type: 'bearer',
        expires_in: 3_600,
      }),
    )
  }
  const stream = (
    { headers }: IncomingMessage,
    response: ServerResponse,
  ): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('retry: 10\n\n')
    for (const [index, data] of past.entries())
      if (index >= Number(headers['last-event-id'] ?? past.length))
        write(response, index, data)
    streams.add(response)
    response.once('close', () => streams.delete(response))
  }
  const server = createServer((request, response) => {
    if (request.url === '/token') issue(response)
    else if (accepts(request.headers.authorization)) stream(request, response)
    else
      response
        .writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' })
        .end()
  })

  const sockets = new WebSocketServer({ noServer: true })
  server.on('upgrade', (request, socket, head) => {
    if (accepts(request.headers.authorization))
      sockets.handleUpgrade(request, socket, head, (ws) =>
        ws.on('message', (data) => ws.send(data as Buffer, { binary: false })),
      )
    else
      socket.end(
        'HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n',
      )
  })

  const grpc = new GrpcServer()
  const echo: handleUnaryCall<string, string> = (
    { metadata, request },
    callback,
  ) => {
    if (accepts(metadata.get('authorization')[0])) callback(null, request)
    else callback({ code: status.UNAUTHENTICATED })
  }
  grpc.addService(echoService, { echo })
  const { cert, private: key } = await generate(
    [{ name: 'commonName', value: 'localhost' }],
    {
      keyType: 'ec',
      algorithm: 'sha256',
      extensions: [
        { name: 'basicConstraints', cA: true, critical: true },
        { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
      ],
    },
  )
  const pair = { cert_chain: Buffer.from(cert), private_key: Buffer.from(key) }
  const grpcPort = await new Promise<number>((resolve, reject) => {
    grpc.bindAsync(
      '127.0.0.1:0',
      ServerCredentials.createSsl(null, [pair]),
      (error, port) => (error === null ? resolve(port) : reject(error)),
    )
  })
  const origin = await listen(server)

  return {
    eventsUrl: `${origin}/events`,
    socketUrl: `${origin.replace('http', 'ws')}/socket`,
    grpcTarget: `127.0.0.1:${grpcPort}`,
    grpcCa: cert,
    counts,
    openStreams: () => streams.size,
    announce(data) {
      past.push(data)
      for (const response of streams) write(response, past.length - 1, data)
    },
    cutStreams() {
      for (const response of streams) response.destroy()
    },
    revokeTokens: () => live.clear(),
    refuseAll() {
      refusesAll = true
    },
    createManager: () =>
      createTokenManager({
        issuers: {
          streams: {
            tokenEndpoint: `${origin}/token`,
            credentials: { clientId: 'reader', clientSecret: 'of the example' },
            allowInsecureLoopback: true,
          },
        },
        apis: [
          { baseUrl: `${origin}/`, issuer: 'streams' },
          { baseUrl: `https://127.0.0.1:${grpcPort}/`, issuer: 'streams' },
        ],
      }),
    async [Symbol.asyncDispose]() {
      grpc.forceShutdown()
      for (const client of sockets.clients) client.terminate()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function write(response: ServerResponse, index: number, data: string): void {
  response.write(`id: ${index + 1}\ndata: ${data}\n\n`)
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
