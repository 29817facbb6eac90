import { type RedisServer, startRedis } from '@tokenlane/testing/redis-server'
import { createClient } from 'redis'
import { pass } from './rate-fleet.ts'

type Admin = Awaited<ReturnType<typeof connect>>

/** A Redis Cluster of three masters, each with a third of the slots. */
export interface ClusterOfThree extends AsyncDisposable {
  readonly servers: readonly RedisServer[]
  /** Moves the slot of a key to another server, and stays for `ms` milliseconds with its keys on two servers. */
  moveSlot(key: string, ms: number): Promise<void>
  /** Returns how many commands the servers have refused with an error of this name. */
  refusals(name: string): Promise<number>
}

const allSlots = 16_384

export async function startClusterOfThree(): Promise<ClusterOfThree> {
  const settings = ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1']
  const servers = await Promise.all([1, 2, 3].map(() => startRedis(settings)))
  const admins = await Promise.all(servers.map(({ url }) => connect(url)))
  const command = (admin: Admin, ...words: (string | number)[]): Promise<unknown> =>
    admin.sendCommand(['CLUSTER', ...words.map(String)])
  const bounds = [0, 5_461, 10_923, allSlots]
  for (const [index, admin] of admins.entries()) {
    await command(admin, 'SET-CONFIG-EPOCH', index + 1)
    await command(admin, 'ADDSLOTSRANGE', bounds[index] as number, (bounds[index + 1] as number) - 1)
    const { port, busPort } = servers[index] as RedisServer
    await command(admins[0] as Admin, 'MEET', '127.0.0.1', port, busPort)
  }
  const isReady = async (admin: Admin): Promise<boolean> => {
    const info = String(await command(admin, 'INFO'))
    return /cluster_state:ok/.test(info) && /cluster_known_nodes:3/.test(info)
  }
  for (const admin of admins) while (!(await isReady(admin))) await pass(50)
  return {
    servers,
    async moveSlot(key, ms) {
      const slot = Number(await command(admins[0] as Admin, 'KEYSLOT', key))
      const from = bounds.findIndex((bound) => bound > slot) - 1
      const to = (from + 1) % 3
      const [source, target] = [admins[from] as Admin, admins[to] as Admin]
      const [sourceId, targetId] = [await command(source, 'MYID'), await command(target, 'MYID')]
      await command(target, 'SETSLOT', slot, 'IMPORTING', String(sourceId))
      await command(source, 'SETSLOT', slot, 'MIGRATING', String(targetId))
      const migrate = async (most: number): Promise<number> => {
        const keys = (await command(source, 'GETKEYSINSLOT', slot, most)) as string[]
        const place = ['127.0.0.1', String(servers[to]?.port), '', '0', '1000', 'REPLACE', 'KEYS']
        if (keys.length > 0) await source.sendCommand(['MIGRATE', ...place, ...keys])
        return keys.length
      }
      await migrate(2)
      await pass(ms)
      while ((await migrate(100)) > 0);
      for (const admin of [target, source]) await command(admin, 'SETSLOT', slot, 'NODE', String(targetId))
    },
    async refusals(name) {
      let count = 0
      for (const admin of admins) {
        const stats = await admin.info('errorstats')
        count += Number(stats.split(`errorstat_${name}:count=`)[1]?.split('\r')[0] ?? 0)
      }
      return count
    },
    async [Symbol.asyncDispose]() {
      for (const admin of admins) admin.destroy()
      await Promise.all(servers.map((server) => server.close()))
    },
  }
}

async function connect(url: string) {
  const client = createClient({ url }).on('error', () => {})
  await client.connect()
  return client
}
