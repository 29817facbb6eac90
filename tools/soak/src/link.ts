// The network between a client and one server: passes bytes on, slows them down, and cuts connections.
import type { Random } from '@tokenlane/testing/random'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface LinkFault {
  /** How long each piece of data is held, in milliseconds. */
  readonly delay: number
  /** The share of pieces at which the connection breaks, half of the piece having passed. */
  readonly cut: number
}

export interface Link {
  readonly port: number
  fault: LinkFault
  /** Breaks every connection that is open. */
  reset(): void
  close(): void
}

export const goodLink: LinkFault = { delay: 0, cut: 0 }

export async function openLink(target: number, random: Random): Promise<Link> {
  const open = new Set<Socket>()

  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    const carry = (from: Socket, to: Socket): void => {
      open.add(from)
      from.setNoDelay(true)
      from.on('error', () => {})
      from.on('close', () => {
        open.delete(from)
        to.destroy()
      })
      let passing = Promise.resolve()
      const pass = async (piece: Buffer): Promise<void> => {
        const { delay, cut } = link.fault
        if (delay > 0) await sleep(delay)
        if (random.chance(cut)) {
          to.write(piece.subarray(0, piece.length >> 1))
          breakOff(near, far)
        } else if (to.writable) to.write(piece)
      }
      from.on('data', (piece: Buffer) => {
        passing = passing.then(() => pass(piece))
      })
      from.on('end', () => {
        passing = passing.then(() => void to.end())
      })
    }
    carry(near, far)
    carry(far, near)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  const link: Link = {
    port: (server.address() as AddressInfo).port,
    fault: goodLink,
    reset: () => breakOff(...open),
    close() {
      server.close()
      breakOff(...open)
    },
  }
  return link
}

function breakOff(...sockets: Socket[]): void {
  for (const socket of sockets) socket.resetAndDestroy()
}
