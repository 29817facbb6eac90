import { astray, guardingManager, recordingFetch, type Sent } from '@tokenlane/testing/guarded-apis'
import { trickyUrl } from '@tokenlane/testing/tricky-url'
import fc from 'fast-check'
import ky, { type Hooks, type Options } from 'ky'
import { expect, test } from 'vitest'

import { kyTokens } from '../src/index.ts'

// so many calls take their time on a busy machine
const patience = { timeout: 120_000 }
const runs = 20_000

const options = fc.constantFrom<Options>(
  {},
  { baseUrl: 'https://api.example.com/v2/' },
  { baseUrl: 'https://weblink.example.com/api/' },
  { prefix: 'https://api.example.com/v2/' },
  { prefix: 'https://weblink.example.com/api/' },
)

test(`${runs} tricky URLs carry the token of the API that they lead to, or none`, patience, async () => {
  const sent: Sent[] = []
  const client = ky.create({ retry: 0, fetch: recordingFetch(sent) }).extend(kyTokens(guardingManager()))
  const total = { token: 0, none: 0 }
  await fc.assert(
    fc.asyncProperty(trickyUrl, options, async (url, given) => {
      sent.length = 0
      // what ky does not take is not sent
      await (async () => client(url, given))().catch(() => {})
      expect(astray(sent)).toEqual([])
      for (const { authorization } of sent) total[authorization === null ? 'none' : 'token'] += 1
    }),
    { numRuns: runs },
  )
  expect(Math.min(...Object.values(total))).toBeGreaterThan(500)
})

const elsewhere = (): Request => new Request('https://evil.example/')
const hooks: Record<string, Hooks> = {
  'the hook of the instance': { beforeRequest: [elsewhere] },
  'a hook on a retry': { beforeRetry: [elsewhere] },
}

test.each(Object.entries(hooks))(
  '%s that sends the call elsewhere takes no token there',
  async (_, later) => {
    const sent: Sent[] = []
    const fetch = recordingFetch(sent)
    const client = ky.create({
      retry: { limit: 1, delay: () => 0 },
      fetch: async (input, init) => {
        await fetch(input, init)
        return new Response(null, { status: sent.length === 1 ? 503 : 200 })
      },
    })
    await client.extend(kyTokens(guardingManager())).extend({ hooks: later })(
      'https://api.example.com/records',
    )
    expect(astray(sent)).toEqual([])
    expect(sent.at(-1)).toEqual({ url: 'https://evil.example/', authorization: null })
  },
)
