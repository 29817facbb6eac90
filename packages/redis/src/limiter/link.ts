import { type Connection, type RedisClient, runScript, type Script } from '../redis-client.ts'

export type ErrorListener = (error: unknown) => void

/**
 * How limiters reach Redis: through the application's client, and past it while its connection is half open, which a
 * client without a time limit for its socket does not find out.
 */
export class Link {
  readonly errors: Set<ErrorListener> = new Set()
  readonly #client: RedisClient & Connection
  #bypass: (RedisClient & Connection) | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(client: RedisClient) {
    this.#client = client
    const hear: ErrorListener = (error) => {
      for (const listener of this.errors) listener(error)
    }
    // the last two are those of a Cluster of ioredis and of `redis`
    for (const event of ['error', 'node error', 'node-error']) this.#client.on?.(event, hear)
  }

  get isBypassed(): boolean {
    return this.#bypass !== undefined
  }

  run(script: Script, keys: string[], args: string[]): Promise<unknown> {
    if (this.#bypass !== undefined) return runScript(this.#bypass, script, keys, args)
    return (this.#last = runScript(this.#client, script, keys, args))
  }

  /** Connects past the client, until that responds to its last request or finds out that its connection is gone. */
  bypass(): void {
    if (this.isBypassed || this.#client.duplicate === undefined) return
    const bypass = this.#client.duplicate() as RedisClient & Connection
    bypass.on?.('error', () => {})
    // ioredis may connect by itself
    bypass.connect?.().catch(() => {})
    this.#bypass = bypass
    const end = (): void => {
      this.#bypass = undefined
      try {
        if (bypass.destroy) bypass.destroy()
        else bypass.disconnect?.()
      } catch {
        // it gave up connecting
      }
    }
    this.#last.then(end, end)
  }
}

const links = new WeakMap<RedisClient, Link>()

/** Returns the link of a client, the same for all its limiters. */
export function linkOf(client: RedisClient): Link {
  const link = links.get(client) ?? new Link(client)
  links.set(client, link)
  return link
}
