import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { createClient } from 'redis'

/** A Redis of its own, that keeps nothing. */
export interface Redis {
  readonly url: string
  kill(): Promise<void>
  start(): Promise<void>
  /** How many commands clients have sent since its start. */
  scripts(): Promise<number>
}

export async function startRedis(): Promise<Redis> {
  const listening = createServer().listen(0, '127.0.0.1')
  await once(listening, 'listening')
  const { port } = listening.address() as { port: number }
  listening.close()
  const url = `redis://127.0.0.1:${port}`
  let child: ChildProcess
  const start = async (): Promise<void> => {
    child = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', ''], {
      stdio: 'ignore',
    })
    process.once('exit', () => child.kill('SIGKILL'))
    await ask(url, async () => {})
  }
  await start()
  return {
    url,
    start,
    async kill() {
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
    scripts: () =>
      ask(url, async (client) => {
        const stats = await client.info('commandstats')
        const calls = stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)
        return Array.from(calls).reduce((sum, [, count]) => sum + Number(count), 0)
      }),
  }
}

/** As much as is asked of it here. */
interface Told {
  info(section: string): Promise<string>
}

async function ask<T>(url: string, question: (client: Told) => Promise<T>): Promise<T> {
  const client = createClient({ url, socket: { reconnectStrategy: () => 20 } })
  client.on('error', () => {})
  await client.connect()
  try {
    return await question(client)
  } finally {
    client.destroy()
  }
}
