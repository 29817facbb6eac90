import { type RedisServer, startRedis } from '@tokenlane/testing/redis-server'
import { Cluster } from 'ioredis'
import { createClient, createCluster } from 'redis'
import { vi } from 'vitest'
import type { RedisClient } from '../../src/index.ts'
import type { ClientKind } from '../clients.ts'

/** A Cluster whose one server has all slots: it refuses what a larger one would, keys of several slots at once. */
export async function startClusterOfOne(): Promise<RedisServer> {
  const server = await startRedis(['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'])
  const admin = createClient({ url: server.url })
  await admin.connect()
  await admin.sendCommand(['CLUSTER', 'ADDSLOTSRANGE', '0', '16383'])
  await vi.waitFor(async () => {
    if (!(await admin.clusterInfo()).includes('cluster_state:ok')) throw new Error('not yet')
  }, 60_000)
  admin.destroy()
  return server
}

export async function connectCluster(
  kind: ClientKind,
  { url, port }: RedisServer,
): Promise<RedisClient & { destroy(): void }> {
  if (kind === 'redis') {
    const cluster = createCluster({ rootNodes: [{ url }] })
    await cluster.connect()
    return cluster
  }
  const cluster = new Cluster([{ host: '127.0.0.1', port }], { lazyConnect: true })
  await cluster.connect()
  return Object.assign(cluster, { destroy: () => cluster.disconnect() })
}
