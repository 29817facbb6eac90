// One process of a fleet whose client moves from a secret to an assertion: all clients call until they are told to stop.
import { once } from 'node:events'
import { createTokenManager, oauthIssuer } from '@tokenlane/core'
import { fileAssertion } from '@tokenlane/core/node'
import { redisTokenStore } from '@tokenlane/redis'
import { createClient } from 'redis'
import { createClients } from './clients.ts'

/** What the process is given in its environment. */
interface Order {
  readonly authUrl: string
  readonly apiUrl: string
  readonly tokenEndpoint: string
  readonly clientId: string
  readonly clientSecret: string
  readonly path: string
  readonly redis: string
}

/** What it says at the end. */
export interface Made {
  readonly calls: number
  /** What calls failed with. */
  readonly lost: readonly string[]
  readonly rotated: number
}

const order = JSON.parse(process.env['ORDER'] ?? '{}') as Order
const { clientId, clientSecret, path, apiUrl, authUrl, tokenEndpoint } = order
const redis = await createClient({ url: order.redis }).connect()
let rotated = 0
const tokens = createTokenManager({
  issuers: {
    general: oauthIssuer({
      tokenEndpoint,
      assertionAudience: authUrl,
      credentials: [
        { clientId, clientSecret },
        { clientId, assertion: fileAssertion(path) },
      ],
    }),
  },
  apis: [{ baseUrl: apiUrl, issuer: 'general' }],
  store: redisTokenStore({ client: redis, key: 'a key of the store, 32 characters or more' }),
  observe: ({ type }) => void (rotated += type === 'credentials.rotated' ? 1 : 0),
})
const clients = createClients(tokens)

let calls = 0
const stop = new AbortController()
const lost: string[] = []
const looping = Object.entries(clients.send).map(async ([name, one]) => {
  while (!stop.signal.aborted) {
    try {
      const status = await one({ url: `${apiUrl}echo`, method: 'POST', stream: false })
      if (status !== 200) lost.push(`${name} ${status}`)
    } catch (error) {
      lost.push(`${name} ${String(error)}`)
    }
    calls += 1
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
})
process.send?.('ready')
await once(process, 'message')
stop.abort()
await Promise.all(looping)
await tokens.close()
await clients.close()
redis.destroy()
process.send?.({ calls, lost, rotated } satisfies Made, () => process.disconnect())
