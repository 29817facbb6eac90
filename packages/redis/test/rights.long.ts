// Long: both contracts with each client, as a user with few rights.
import { globSync, readFileSync } from 'node:fs'
import { limiterContract, storeContract } from '@tokenlane/conformance'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { redisLimiter, redisTokenStore } from '../src/index.ts'
import { clientKinds, connectClient, type TestClient } from './clients.ts'
import { useRedis } from './support/use-redis.ts'

// A user of Redis with the rights that the README names, and no others.

const packageFolder = new URL('..', import.meta.url)
const readme = readFileSync(new URL('README.md', packageFolder), 'utf8')
/** The command, as a shell passes it on. */
const [, shown = ''] = /redis-cli (ACL SETUSER [^`]+)/.exec(readme) ?? []
const command = shown.replaceAll(/[\\']/g, '').trim().split(/\s+/)

const redis = useRedis()

describe.each(clientKinds)('with %s', (kind) => {
  const connected = {} as { client: TestClient }
  beforeAll(async () => {
    await redis.client.sendCommand(command)
    const [, , name = '', , password = ''] = command
    const url = redis.server.url.replace('//', `//${name}:${password.slice(1)}@`)
    connected.client = await connectClient(kind, url)
  })
  afterAll(() => connected.client.destroy())

  storeContract({ name: `redisTokenStore, ${kind}`, open: () => redisTokenStore(connected) })
  limiterContract({
    name: `redisLimiter, ${kind}`,
    create: (api) => redisLimiter({ ...connected, fallbackShare: 1 })(api),
  })

  test('the server says what it is', async () => {
    const facts = await redisTokenStore(connected).server?.()
    expect(facts?.id).toMatch(/^[0-9a-f]{40}$/)
    expect(facts?.refused).toBeUndefined()
  })

  test('Redis refused no command, but what clients say of themselves', async () => {
    const log: unknown[] = await redis.client.sendCommand(['ACL', 'LOG'])
    const refused = log.map((entry) => {
      const fields = (entry as unknown[]).map(String)
      return fields[fields.indexOf('object') + 1]
    })
    expect(refused.filter((object) => !object?.startsWith('client|'))).toEqual([])
  })
})

test('the rights have every command of the scripts', () => {
  const scripts = globSync('src/**/*.lua', { cwd: packageFolder })
    .map((file) => readFileSync(new URL(file, packageFolder), 'utf8'))
    .join('\n')
  const commands = Array.from(scripts.matchAll(/(?:redis\.p?)?call\('([A-Z]+)'/g), ([, name = '']) => name)
  expect(new Set(commands).size).toBeGreaterThan(10)
  for (const each of commands) expect(command).toContain(`+${each.toLowerCase()}`)
})
