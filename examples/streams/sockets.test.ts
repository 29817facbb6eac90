import { once } from 'node:events'
import {
  Client,
  credentials,
  status,
  type ChannelCredentials,
  type Metadata,
} from '@grpc/grpc-js'
import type { TokenManager } from '@tokenlane/core'
import { expect, onTestFinished, test } from 'vitest'

import { callCredentials, unary } from './grpc.ts'
import {
  echoService,
  startStreamService,
  type StreamService,
} from './service.ts'
import { openSocket } from './socket.ts'
import { openUndiciSocket } from './undici-socket.ts'

async function open() {
  const service = await startStreamService()
  onTestFinished(() => service[Symbol.asyncDispose]())
  const tokens = service.createManager()
  onTestFinished(() => tokens.close())
  return { service, tokens }
}

interface Echoing {
  send(text: string): void
  close(): void
}

/** Opens a WebSocket in one of the ways, and returns what sends a text and gets it back. */
const sockets = {
  async ws(tokens: TokenManager, url: string) {
    const socket = await openSocket(tokens, url)
    return {
      socket,
      echo: () => once(socket, 'message').then(([data]) => String(data)),
    }
  },
  async undici(tokens: TokenManager, url: string) {
    const socket = await openUndiciSocket(tokens, url)
    const echo = (): Promise<string> =>
      new Promise((resolve) => {
        socket.addEventListener(
          'message',
          ({ data }) => resolve(String(data)),
          { once: true },
        )
      })
    return { socket, echo }
  },
} satisfies Record<
  string,
  (
    tokens: TokenManager,
    url: string,
  ) => Promise<{ socket: Echoing; echo(): Promise<string> }>
>

const ways = Object.keys(sockets) as (keyof typeof sockets)[]

test.each(ways)(
  '%s: a handshake that is refused costs one renewal, and the socket outlives its token',
  async (way) => {
    const { service, tokens } = await open()
    await tokens.getToken('streams')
    service.revokeTokens()
    const { socket, echo } = await sockets[way](tokens, service.socketUrl)
    // undici sends a refused handshake twice by itself
    const refused = way === 'undici' ? 2 : 1
    expect(service.counts).toEqual({ tokenRequests: 2, refused })

    service.revokeTokens()
    await tokens.close()
    const echoed = echo()
    socket.send('still here')
    expect(await echoed).toBe('still here')
    socket.close()
  },
)

test.each(ways)(
  '%s: a socket that is refused with a new token, too, says its status',
  async (way) => {
    const { service, tokens } = await open()
    service.refuseAll()
    const opening = sockets[way](tokens, service.socketUrl)
    await expect(opening).rejects.toThrow('No WebSocket: status 401')
    expect(service.counts.tokenRequests).toBe(2)
  },
)

const { echo: method } = echoService

function grpcClient(
  service: StreamService,
  more?: (secure: ChannelCredentials) => ChannelCredentials,
): Client {
  const secure = credentials.createSsl(Buffer.from(service.grpcCa))
  const client = new Client(service.grpcTarget, more?.(secure) ?? secure)
  onTestFinished(() => client.close())
  return client
}

function echoCall(client: Client, text: string) {
  return (
    metadata: Metadata,
    done: (error: never, response?: string) => void,
  ) => {
    client.makeUnaryRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      text,
      metadata,
      done as never,
    )
  }
}

test('gRPC: UNAUTHENTICATED costs one renewal, and the call is made again', async () => {
  const { service, tokens } = await open()
  const client = grpcClient(service)
  const url = `https://${service.grpcTarget}/`
  expect(await unary(tokens, url, echoCall(client, 'a'))).toBe('a')
  service.revokeTokens()
  const echoed = ['b', 'c', 'd'].map((text) =>
    unary(tokens, url, echoCall(client, text)),
  )
  expect(await Promise.all(echoed)).toEqual(['b', 'c', 'd'])
  expect(service.counts).toEqual({ tokenRequests: 2, refused: 3 })

  service.refuseAll()
  await expect(unary(tokens, url, echoCall(client, 'e'))).rejects.toMatchObject(
    {
      code: status.UNAUTHENTICATED,
    },
  )
})

test('gRPC: call credentials give each call a live token', async () => {
  const { service, tokens } = await open()
  const client = grpcClient(service, (secure) =>
    credentials.combineChannelCredentials(
      secure,
      callCredentials(tokens, 'streams'),
    ),
  )
  const call = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      client.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        text,
        (error, response) =>
          error === null ? resolve(response ?? '') : reject(error),
      )
    })
  expect(await Promise.all([call('a'), call('b')])).toEqual(['a', 'b'])
  expect(service.counts).toEqual({ tokenRequests: 1, refused: 0 })

  await tokens.close()
  await expect(call('c')).rejects.toThrow(/token manager was closed/)
})
