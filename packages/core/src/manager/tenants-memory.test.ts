import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { createTokenManager, type TokenManager } from '../index.ts'

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as () => void

const credentials = (clientId: string) => ({ clientId, clientSecret: `secret-${clientId}` })
const urls = ['https://api.example.com/records', 'https://web.example.com/link/reports']

/** A manager of two issuers and two APIs, both with a rate policy. */
function managerOfTenants(): TokenManager<'general' | 'weblink'> {
  const ofTenant = (id: string) => ({ credentials: credentials(id) })
  return createTokenManager({
    issuers: {
      general: { tokenEndpoint: 'https://auth.example.com/token', ...ofTenant('main') },
      weblink: { tokenEndpoint: 'https://login.example.com/token', ...ofTenant('main') },
    },
    apis: [
      {
        baseUrl: 'https://api.example.com/',
        issuer: 'general',
        ratePolicy: { limits: [{ quota: 25, window: 1_000 }] },
      },
      {
        baseUrl: 'https://web.example.com/link/',
        issuer: 'weblink',
        ratePolicy: { limits: [{ quota: 180, window: 60_000 }] },
      },
    ],
    tenants: (id) => ({ issuers: { general: ofTenant(id), weblink: ofTenant(id) } }),
    fetch: async () => Response.json({ access_token: 'token', token_type: 'Bearer', expires_in: 3_600 }),
  })
}

async function callAs(tokens: TokenManager, id: string): Promise<void> {
  const exchange = { status: 200, result: undefined, discard() {} }
  for (const url of urls)
    await tokens
      .forTenant(id)
      .route(url)
      ?.send(async () => exchange)
}

// the collector goes through what other tests of this worker loaded, too
const patience = { timeout: 60_000 }

test(
  'a tenant with two issuers, two tokens and two rate policies takes at most 12 KB',
  patience,
  async () => {
    const tokens = managerOfTenants()
    const heapWith = async (prefix: string, count: number): Promise<number> => {
      for (let index = 0; index < count; index += 1) await callAs(tokens, `${prefix}-${index}`)
      gc()
      return process.memoryUsage().heapUsed
    }
    const before = await heapWith('first', 200)
    expect(((await heapWith('later', 1_000)) - before) / 1_000).toBeLessThan(12_000)
    await tokens.close()
  },
)
