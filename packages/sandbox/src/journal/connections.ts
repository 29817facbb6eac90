import type { Socket } from 'node:net'

import type { SeenRequest } from './entry.ts'

export interface Connection {
  /** Number of the connection, counted from 1 in the order of the first requests. */
  readonly number: number
  requests: number
  /** The last request with a decision. */
  last?: SeenRequest
}

export interface Connections {
  /** Counts a request, and returns its connection. Calls `onClose` when the connection ends. */
  arrive(socket: Socket, onClose: (connection: Connection) => void): Connection
  /** Returns a new number for a connection without a request. */
  open(): Connection
}

export function createConnections(): Connections {
  const known = new WeakMap<Socket, Connection>()
  let last = 0
  const open = (): Connection => {
    last += 1
    return { number: last, requests: 0 }
  }

  return {
    open,
    arrive(socket, onClose) {
      let connection = known.get(socket)
      if (connection === undefined) {
        const opened = open()
        connection = opened
        known.set(socket, opened)
        socket.once('close', () => onClose(opened))
      }
      connection.requests += 1
      return connection
    },
  }
}
