import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { freePort } from './free-port.ts'

/** Where `scripts/system-packages.ts` puts a server if it may not install one for the whole machine. */
export const ownRedis: string = fileURLToPath(new URL('../../../node_modules/.redis/', import.meta.url))

/** Where `scripts/valkey.ts` puts a Valkey server. */
export const ownValkey: string = fileURLToPath(new URL('../../../node_modules/.valkey/', import.meta.url))

/** How to start a server. */
export interface ServerProgram {
  readonly command: string
  readonly env: Readonly<Record<string, string>>
}

/** Returns the server of the tests on this machine, `undefined` without one: Redis, or what TOKENLANE_TEST_SERVER names. */
export function findRedisServer(): ServerProgram | undefined {
  if (process.env['TOKENLANE_TEST_SERVER'] === 'valkey') return findValkeyServer()
  return findServer(['redis-server', 'valkey-server'], ownRedis)
}

/** Returns the Valkey server on this machine, `undefined` without one. */
export function findValkeyServer(): ServerProgram | undefined {
  return findServer(['valkey-server'], ownValkey)
}

/** Looks on the `PATH`, then in a folder of the project. */
function findServer(names: readonly string[], own: string): ServerProgram | undefined {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter))
    for (const name of names)
      if (isExecutable(join(folder, name))) return { command: join(folder, name), env: {} }
  const command = join(own, 'usr/bin', names[0] as string)
  if (!existsSync(command)) return undefined
  return { command, env: { LD_LIBRARY_PATH: librariesIn(own).join(delimiter) } }
}

/** A Redis server of its own: nothing is kept on disk but in a folder that goes with it. */
export interface RedisServer extends AsyncDisposable {
  readonly port: number
  /** Where servers of a Cluster talk to each other. */
  readonly busPort: number
  readonly url: string
  /** Kills it as a crash does. */
  kill(): Promise<void>
  /** Starts it again on the same port, empty. */
  restart(): Promise<void>
  /** Makes it stand still, as an overloaded machine does. */
  stop(): void
  /** Ends that. */
  resume(): void
  close(): Promise<void>
}

const running = new Set<() => boolean>()
const killAll = (): void => {
  for (const kill of running) kill()
}

/** Starts a Redis server on a free port of 127.0.0.1. `settings` are further arguments of `redis-server`. */
export async function startRedis(settings: readonly string[] = []): Promise<RedisServer> {
  const server = findRedisServer()
  if (server === undefined)
    throw new Error(
      'These tests need a Redis server, and none is installed: `npm test` installs one, or put `redis-server` or `valkey-server` on the PATH',
    )
  const folder = mkdtempSync(join(tmpdir(), 'redis-'))
  const port = await freePort()
  // by default it is 10,000 above the other one, where there may be none or somebody else's
  const busPort = await freePort()
  const bus = settings.includes('--cluster-enabled') ? ['--cluster-port', String(busPort)] : []
  const launch = async (): Promise<ChildProcess> => {
    const args = [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--dir',
      folder,
      ...bus,
      ...settings,
    ]
    const child = spawn(server.command, args, { env: { ...process.env, ...server.env }, stdio: 'ignore' })
    await untilItListens(child, port)
    return child
  }
  let child = await launch()
  const killAtExit = (): boolean => child.kill('SIGKILL')
  // a test run that is cut short leaves no server behind
  if (running.size === 0) process.once('exit', killAll)
  running.add(killAtExit)
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }
  const close = async (): Promise<void> => {
    await kill()
    running.delete(killAtExit)
    if (running.size === 0) process.off('exit', killAll)
    rmSync(folder, { recursive: true, force: true })
  }
  return {
    port,
    busPort,
    url: `redis://127.0.0.1:${port}`,
    kill,
    async restart() {
      await kill()
      child = await launch()
    },
    stop: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    close,
    [Symbol.asyncDispose]: close,
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function librariesIn(folder: string): string[] {
  const machine = { x64: 'x86_64', arm64: 'aarch64' }[process.arch as string] ?? process.arch
  return [`usr/lib/${machine}-linux-gnu`, `lib/${machine}-linux-gnu`].map((path) => join(folder, path))
}

async function untilItListens(child: ChildProcess, port: number): Promise<void> {
  const start: { failure?: string } = {}
  child.once('error', ({ message }) => (start.failure = message))
  child.once('exit', (code) => (start.failure = `it ended with ${code}`))
  while (start.failure === undefined) if (await answers(port)) return
  throw new Error(`redis-server does not start: ${start.failure}`)
}

/** Whether Redis is there, and ready. */
async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    socket.write('PING\r\n')
    const [answer] = (await once(socket, 'data')) as [Buffer]
    return answer.toString().startsWith('+PONG')
  } catch {
    await new Promise((resolve) => setTimeout(resolve, 10))
    return false
  } finally {
    socket.destroy()
  }
}
