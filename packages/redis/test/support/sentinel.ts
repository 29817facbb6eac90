import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findRedisServer, type RedisServer, startRedis } from '@tokenlane/testing/redis-server'
import { createClient } from 'redis'
import { startBadNetwork } from './bad-network.ts'
import { pass } from './rate-fleet.ts'

/** A master with a replica, and a Sentinel that puts the replica in its place when it dies. */
export interface Sentinel extends AsyncDisposable {
  readonly port: number
  readonly master: RedisServer
  /** The replica gets nothing of what the master writes from now on. */
  cutReplica(): void
}

/** What the Sentinel calls the master. */
export const masterName = 'tokenlane'

export async function startSentinel(): Promise<Sentinel> {
  const master = await startRedis()
  const network = await startBadNetwork(master.port)
  const replica = await startRedis([
    '--replicaof',
    `127.0.0.1 ${new URL(network.url).port}`,
    '--repl-diskless-sync-delay',
    '0',
  ])
  await until(replica.url, 'replication', /master_link_status:up/)
  const folder = mkdtempSync(join(tmpdir(), 'sentinel-'))
  const file = join(folder, 'sentinel.conf')
  // a free port, from a server that is gone
  const probe = await startRedis()
  await probe.close()
  writeFileSync(
    file,
    `port ${probe.port}
bind 127.0.0.1
dir ${folder}
sentinel monitor ${masterName} 127.0.0.1 ${master.port} 1
sentinel down-after-milliseconds ${masterName} 500
sentinel failover-timeout ${masterName} 5000
`,
  )
  const { command, env } = findRedisServer() as NonNullable<ReturnType<typeof findRedisServer>>
  const child = spawn(command, [file, '--sentinel'], { env: { ...process.env, ...env }, stdio: 'ignore' })
  const end = (): boolean => child.kill('SIGKILL')
  process.on('exit', end)
  await until(`redis://127.0.0.1:${probe.port}`, 'sentinel', /status=ok.*slaves=1/)
  return {
    port: probe.port,
    master,
    cutReplica: () => network.become({ hole: 'all' }),
    async [Symbol.asyncDispose]() {
      process.off('exit', end)
      const exit = once(child, 'exit')
      end()
      await exit
      await Promise.all([master.close(), replica.close(), network[Symbol.asyncDispose]()])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Waits until a server is there and says so of itself. */
async function until(url: string, section: string, word: RegExp): Promise<void> {
  const client = createClient({ url, socket: { reconnectStrategy: 50 } }).on('error', () => {})
  await client.connect()
  while (!word.test(await client.info(section))) await pass(50)
  client.destroy()
}
