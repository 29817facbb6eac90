// Long: both contracts with each client, over TLS with a certificate of its own authority.
import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { limiterContract, storeContract } from '@tokenlane/conformance'
import { freePort } from '@tokenlane/testing/free-port'
import { type RedisServer, startRedis } from '@tokenlane/testing/redis-server'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { generate } from 'selfsigned'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { redisLimiter, redisTokenStore } from '../src/index.ts'
import { clientKinds, type TestClient } from './clients.ts'

const folder = await mkdtemp(join(tmpdir(), 'redis-tls-'))
const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], { keyType: 'ec' })
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
let server: RedisServer
const port = await freePort()

beforeAll(async () => {
  const [certificate, privateKey] = [file('cert.pem', cert), file('key.pem', key)]
  const files = [
    '--tls-cert-file',
    certificate,
    '--tls-key-file',
    privateKey,
    '--tls-ca-cert-file',
    certificate,
  ]
  server = await startRedis(['--tls-port', String(port), ...files, '--tls-auth-clients', 'no'])
})
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true })
})

async function connectByTls(kind: (typeof clientKinds)[number], ca: string | undefined): Promise<TestClient> {
  if (kind === 'redis') {
    const socket = { host: 'localhost', port, tls: true, ca, reconnectStrategy: false } as const
    return createClient({ socket })
      .on('error', () => {})
      .connect()
  }
  const tls = { host: 'localhost', port, tls: { ca }, lazyConnect: true, retryStrategy: () => null }
  const client = new Redis(tls).on('error', () => {})
  await client.connect()
  return Object.assign(client, { destroy: () => client.disconnect() })
}

describe.each(clientKinds)('with %s over TLS', (kind) => {
  const connected = {} as { client: TestClient }
  beforeAll(async () => {
    connected.client = await connectByTls(kind, cert)
  })
  afterAll(() => connected.client.destroy())

  storeContract({ name: `redisTokenStore, ${kind}`, open: () => redisTokenStore(connected) })
  limiterContract({
    name: `redisLimiter, ${kind}`,
    create: (api) => redisLimiter({ ...connected, fallbackShare: 1 })(api),
  })

  // ioredis tells its `error` listeners why
  test('a client that does not trust the authority connects to nothing', async () => {
    await expect(connectByTls(kind, undefined)).rejects.toThrow(
      /self-signed certificate|Connection is closed/,
    )
  })
})
