import { Socket } from 'node:net'

export interface Connections {
  /** Host and port, or the path of a local socket. */
  readonly place: string
  /** The package that opened them, such as `@redis/client`; `undefined` if Node did, as for `fetch`. */
  readonly by: string | undefined
  readonly count: number
  /**
   * `open` if the server uses one of them, else what became of the last one: `connecting`, `no response` (the server
   * accepted it and sent nothing), `closed`, or why it failed, such as `ECONNREFUSED` or the `WRONGPASS` of Redis.
   */
  readonly outcome: string
  readonly error?: unknown
}

interface Noted extends Connections {
  count: number
  open: number
  last: string
  error?: unknown
}

/**
 * Notes each connection that this process opens from now on: a client that connects again and again in the background
 * reports its failures to the application alone.
 */
export function watchConnections(): () => readonly Connections[] {
  const seen = new Map<string, Noted>()
  // TLS sockets inherit it
  replace(Socket.prototype, 'connect', (socket, given) => {
    const place = placeOf(given)
    const by = packageIn(new Error().stack)
    const key = `${place} ${by}`
    const noted: Noted = seen.get(key) ?? {
      place,
      by,
      count: 0,
      open: 0,
      last: 'connecting',
      get outcome() {
        return this.open > 0 ? 'open' : this.last
      },
    }
    noted.count += 1
    seen.set(key, noted)
    follow(socket, noted)
  })
  return () => [...seen.values()]
}

/** Has `note` called before each call of a method of a socket, or of all sockets. */
function replace(
  target: Socket,
  method: 'connect' | 'emit',
  note: (socket: Socket, given: readonly unknown[]) => void,
): void {
  const original = target[method] as (...given: unknown[]) => unknown
  Object.defineProperty(target, method, {
    configurable: true,
    writable: true,
    value: function noteAndCall(this: Socket, ...given: unknown[]): unknown {
      note(this, given)
      return original.apply(this, given)
    },
  })
}

/** Follows a connection without a listener that would change what the application sees, such as one of `error`. */
function follow(socket: Socket, noted: Noted): void {
  let refusal: string | undefined
  let isFirst = true
  // what it ends as without an error: `closed` by the server, or by a client that got no response
  let end = 'closed'
  socket.once('connect', () => {
    end = 'no response'
    if (noted.last === 'connecting') noted.last = end
  })
  socket.once('close', () => {
    if (!isFirst && refusal === undefined) noted.open -= 1
    const { errored } = socket as { errored?: NodeJS.ErrnoException | null }
    noted.last = refusal ?? errored?.code ?? end
  })
  replace(socket, 'emit', (_, [event, data]) => {
    // the application may report the failure before the socket is closed
    if (event === 'error') {
      noted.error = data
      noted.last = (data as NodeJS.ErrnoException).code ?? noted.last
    }
    if (event === 'data' || event === 'end') end = 'closed'
    if (event !== 'data' || !isFirst) return
    isFirst = false
    // Redis begins with the reason if it refuses the client: `-WRONGPASS …`
    refusal = /^-([A-Z]{2,20}) /.exec(String(data))?.[1]
    if (refusal === undefined) noted.open += 1
    else noted.last = refusal
  })
}

/** Returns where a connection goes to. Node calls `connect` with its options, also within an array, or with a port. */
function placeOf([first, second]: readonly unknown[]): string {
  const given: unknown = Array.isArray(first) ? first[0] : first
  const options = typeof given === 'object' ? given : { port: given, host: second }
  const {
    host = 'localhost',
    port,
    path,
  } = (options ?? {}) as { host?: string; port?: number; path?: string }
  return port === undefined ? String(path) : `${host}:${port}`
}

/** Returns the package of the first line of a stack that is in one; this module's own lines, at its top, do not count. */
function packageIn(stack = ''): string | undefined {
  const line = stack.split('\n').find((one) => one.includes('node_modules') && !one.includes(import.meta.url))
  return line && /.*node_modules[/\\]((?:@[^/\\]+[/\\])?[^/\\]+)/.exec(line)?.[1]?.replace('\\', '/')
}

export function isOfRedis({ by = '' }: Connections): boolean {
  return /redis|valkey/.test(by)
}

/** Returns a sentence that names the connections, such as `127.0.0.1:6379 (@redis/client: ECONNREFUSED, 53 times)`. */
export function connectionsText(connections: readonly Connections[]): string {
  if (connections.length === 0) return ''
  const all = connections.map(({ place, by, count, outcome }) => {
    const times = count > 1 ? `, ${count} times` : ''
    return `${place} (${by === undefined ? '' : `${by}: `}${outcome}${times})`
  })
  return ` Its connections: ${all.join('; ')}.`
}
