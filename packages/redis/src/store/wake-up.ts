import type { Connection, RedisClient } from '../redis-client.ts'

/** How long the connection and its channels are kept after the last wait, in milliseconds. */
const lingerTime = 5_000
/** How long a message may be older than the wait that it is for: it can overtake the reply to a claim. */
const latestTime = 1_000
/** How long after a failed connection the next one may be tried, in milliseconds. */
const retryTime = 10_000

type Listener = (message: string) => void

/** A connection that receives published messages. */
interface Subscriber {
  subscribe(channel: string): Promise<void>
  /** Ends all subscriptions, and the connection if it is its own. */
  end(): void
}

/** A channel, and the waits for its next message. */
interface Channel {
  readonly subscribed: Promise<unknown>
  readonly listeners: Set<Listener>
  latest?: { readonly message: string; readonly at: number }
}

/**
 * Waits for messages of other processes, on a second connection: Redis' subscriptions take one for themselves.
 *
 * The connection opens with the first wait and closes a few seconds after the last one. It keeps no process alive. A
 * connection that fails fails the waits, and is not tried again for a while.
 */
export class WakeUps {
  readonly #client: RedisClient
  readonly #channels = new Map<string, Channel>()
  #subscriber: Promise<Subscriber> | undefined
  #waits = 0
  #failedUntil = Number.NEGATIVE_INFINITY
  #lingering: ReturnType<typeof setTimeout> | undefined

  constructor(client: RedisClient) {
    this.#client = client
  }

  /**
   * Returns the next message of the channel, `undefined` after `ms` milliseconds, when `signal` aborts, or when the
   * channel has only just been subscribed to, since a message may have been published before.
   *
   * @throws Error if there is no connection.
   */
  async next(name: string, ms: number, signal: AbortSignal): Promise<string | undefined> {
    this.#waits += 1
    clearTimeout(this.#lingering)
    try {
      const known = this.#channels.get(name)
      const channel = known ?? this.#subscribe(name)
      await channel.subscribed
      if (known === undefined || signal.aborted) return undefined
      const { latest } = channel
      if (latest !== undefined && performance.now() - latest.at < latestTime) return latest.message
      return await nextOf(channel, ms, signal)
    } finally {
      this.#waits -= 1
      if (this.#waits === 0) this.#linger()
    }
  }

  #subscribe(name: string): Channel {
    const channel: Channel = {
      // a function, since opening may throw
      subscribed: (async () => (await this.#open()).subscribe(name))(),
      listeners: new Set(),
    }
    this.#channels.set(name, channel)
    channel.subscribed.catch(() => this.#fail())
    return channel
  }

  #open(): Promise<Subscriber> {
    if (performance.now() < this.#failedUntil) throw new Error('no connection to wait on')
    this.#subscriber ??= openSubscriber(
      this.#client,
      (name, message) => this.#heard(name, message),
      () => this.#end(),
    )
    return this.#subscriber
  }

  #heard(name: string, message: string): void {
    const channel = this.#channels.get(name)
    if (channel === undefined) return
    channel.latest = { message, at: performance.now() }
    for (const listener of channel.listeners) listener(message)
  }

  #fail(): void {
    this.#failedUntil = performance.now() + retryTime
    this.#end()
  }

  #linger(): void {
    this.#lingering = setTimeout(() => this.#end(), lingerTime)
    this.#lingering.unref()
  }

  #end(): void {
    clearTimeout(this.#lingering)
    const subscriber = this.#subscriber
    this.#subscriber = undefined
    for (const { listeners } of this.#channels.values()) for (const listener of listeners) listener('')
    this.#channels.clear()
    subscriber?.then((opened) => opened.end()).catch(() => {})
  }
}

async function nextOf({ listeners }: Channel, ms: number, signal: AbortSignal): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const timer = setTimeout(resolve, ms, undefined)
  timer.unref()
  const abort = (): void => resolve(undefined)
  signal.addEventListener('abort', abort)
  listeners.add(resolve)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
    listeners.delete(resolve)
  }
}

/** Returns whether this client can open a connection for subscriptions. */
export function canSubscribe(client: RedisClient): boolean {
  const methods = client as unknown as Record<string, unknown>
  return ['subscribe', 'duplicate', 'on'].every((name) => typeof methods[name] === 'function')
}

/** Clusters and Sentinels have a connection for subscriptions by themselves; the client of one server has not. */
async function openSubscriber(
  client: RedisClient,
  heard: (channel: string, message: string) => void,
  ended: () => void,
): Promise<Subscriber> {
  const given = client as Connection
  const isIoRedis = !('evalSha' in client)
  const isShared = isIoRedis ? given.isCluster === true : given.unref === undefined
  const connection = isShared ? given : duplicate(given, isIoRedis)
  if (!isShared) {
    connection.on?.('error', () => {})
    connection.on?.('end', ended)
    given.on?.('end', ended)
    connection.unref?.()
    await connection.connect?.()
    connection.stream?.unref?.()
  }
  const channels: string[] = []
  // a client of `redis` takes a listener for each channel, and calls it with the message first
  const listener = isIoRedis ? [] : [(message: string, channel: string) => heard(channel, message)]
  if (isIoRedis) connection.on?.('message', heard)
  return {
    async subscribe(channel) {
      channels.push(channel)
      await connection.subscribe?.(channel, ...listener)
    },
    end() {
      if (isIoRedis) connection.off?.('message', heard)
      if (isShared) {
        for (const channel of channels) connection.unsubscribe?.(channel, ...listener).catch(() => {})
        return
      }
      connection.off?.('end', ended)
      given.off?.('end', ended)
      if (isIoRedis) connection.disconnect?.()
      else connection.destroy?.()
    },
  }
}

/** Returns a copy of the client that does not reconnect by itself. */
function duplicate(client: Connection, isIoRedis: boolean): Connection {
  const overrides = isIoRedis
    ? { lazyConnect: true, retryStrategy: () => null, enableReadyCheck: false }
    : { socket: { ...client.options?.socket, reconnectStrategy: false } }
  return client.duplicate?.(overrides) as Connection
}
