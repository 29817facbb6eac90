import { astray, guardingManager, recordingFetch, type Sent } from '@tokenlane/testing/guarded-apis'
import { testTrickyCalls } from '@tokenlane/testing/tricky-url'
import fc from 'fast-check'
import ky, { type Hooks, type Options } from 'ky'
import { expect, test } from 'vitest'

import { kyTokens } from '../src/index.ts'

const options = fc.constantFrom<Options>(
  {},
  { baseUrl: 'https://api.example.com/v2/' },
  { baseUrl: 'https://weblink.example.com/api/' },
  { prefix: 'https://api.example.com/v2/' },
  { prefix: 'https://weblink.example.com/api/' },
)

testTrickyCalls({
  runs: 20_000,
  how: options,
  open(sent) {
    const client = ky.create({ retry: 0, fetch: recordingFetch(sent) }).extend(kyTokens(guardingManager()))
    return async (url, given) => client(url, given)
  },
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
