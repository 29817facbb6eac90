import type { Socket } from 'node:net'

import type { SeenRequest } from './entry.ts'

/** What is known of the connection that a request came on. */
export interface Connection {
  /** Counted from 1, in the order of the first requests. */
  readonly number: number
  /** How many requests it has had. */
  requests: number
  /** The last request that was decided. */
  last?: SeenRequest
}

/** Knows connections by their sockets. */
export interface Connections {
  /** Counts a request on a connection. `onClose` is called when the connection ends. */
  arrive(socket: Socket, onClose: (connection: Connection) => void): Connection
  /** Numbers a connection that has not had a request. */
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
