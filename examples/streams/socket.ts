import type { TokenManager } from '@tokenlane/core'
import { WebSocket } from 'ws'

/** Opens a WebSocket with a live token. A 401 costs one renewal and one more handshake. */
export async function openSocket(
  tokens: TokenManager,
  url: string,
): Promise<WebSocket> {
  const api = tokens.route(url.replace(/^ws/, 'http'))
  if (api === undefined) throw new Error(`${url} belongs to no API`)
  const { socket, status } = await api.send((authorization) =>
    handshake(url, authorization),
  )
  if (status !== 101) throw new Error(`No WebSocket: status ${status}`)
  return socket
}

async function handshake(url: string, authorization: string) {
  const socket = new WebSocket(url, { headers: { authorization } })
  const status = await new Promise<number>((resolve, reject) => {
    socket.once('open', () => resolve(101))
    socket.once('unexpected-response', (request, { statusCode = 0 }) => {
      request.destroy()
      resolve(statusCode)
    })
    socket.once('error', reject)
  })
  return {
    status,
    result: { socket, status },
    discard: () => socket.terminate(),
  }
}
