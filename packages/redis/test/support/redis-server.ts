import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A Redis of its own on a free port of this machine, that can be killed, stopped and started again. */
export interface RedisServer {
  readonly port: number
  readonly url: string
  start(): Promise<void>
  /** At once, as if the machine failed: it will have forgotten everything. */
  kill(): Promise<void>
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
  close(): Promise<void>
}

export async function startRedis(): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'tokenlane-redis-'))
  const port = await freePort()
  let child: ChildProcess | undefined

  const start = async (): Promise<void> => {
    const options = [
      '--port',
      `${port}`,
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
      '--dir',
      folder,
    ]
    child = spawn('redis-server', options, { stdio: 'ignore' })
    const failed = once(child, 'exit').then(() => {
      throw new Error('Cannot test: redis-server is not installed, or does not start')
    })
    failed.catch(() => {})
    while (!(await Promise.race([answers(port), failed])));
  }
  const kill = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
  await start()
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    start,
    kill,
    signal: (name) => void child?.kill(name),
    async close() {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    socket.write('PING\r\n')
    const [answer] = await once(socket, 'data')
    return String(answer).startsWith('+PONG')
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
