import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** What happens to the chunks that are under way. */
export interface Weather {
  /** How long each chunk travels, at random from here to there, in milliseconds. */
  delay: readonly [number, number]
  /** How probable it is, from 0 to 1, that a chunk cuts its connection instead of arriving. */
  cuts: number
  /** A black hole: what does not arrive while it is there, and does afterwards, as TCP sends again. */
  hole: 'nothing' | 'answers' | 'all'
}

/** A network between a client and a server of this machine, as bad as a test wants it. */
export interface BadNetwork extends AsyncDisposable {
  readonly url: string
  /** Holds from now on, also for what is under way. */
  become(weather: Partial<Weather>): void
  /** Cuts all connections; what is under way is lost. */
  cut(): void
  /** Makes all connections half open: they swallow everything and never close. New ones work. */
  swallow(): void
}

export const goodWeather: Weather = { delay: [0, 0], cuts: 0, hole: 'nothing' }

export async function startBadNetwork(port: number, start: Partial<Weather> = {}): Promise<BadNetwork> {
  const sockets = new Set<Socket>()
  const halfOpen = new WeakSet<Socket>()
  let weather: Weather = { ...goodWeather, ...start }
  let changed = Promise.withResolvers<void>()

  const arrival = async (swallowed: readonly Weather['hole'][]): Promise<void> => {
    const [least, most] = weather.delay
    const delay = least + Math.random() * (most - least)
    if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay))
    while (swallowed.includes(weather.hole)) await changed.promise
  }

  const carry = (from: Socket, to: Socket, swallowed: readonly Weather['hole'][]): void => {
    let before: Promise<void> | undefined
    const deliver = async (chunk: Buffer, earlier: typeof before): Promise<void> => {
      // all travel at once, and none overtakes another
      await Promise.all([arrival(swallowed), earlier])
      if (halfOpen.has(from)) return
      if (Math.random() < weather.cuts) from.destroy()
      else if (to.writable) to.write(chunk)
    }
    from.on('data', (chunk: Buffer) => {
      before = deliver(chunk, before)
    })
    from.on('error', () => {})
    from.on('close', () => {
      sockets.delete(from)
      to.destroy()
    })
    sockets.add(from)
  }

  const server = createServer((near) => {
    const far = connect({ port, host: '127.0.0.1', noDelay: true })
    near.setNoDelay()
    carry(near, far, ['all'])
    carry(far, near, ['answers', 'all'])
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')

  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    become(next) {
      weather = { ...weather, ...next }
      changed.resolve()
      changed = Promise.withResolvers()
    },
    cut,
    swallow() {
      for (const socket of sockets) halfOpen.add(socket)
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      cut()
      await closed
    },
  }
}
