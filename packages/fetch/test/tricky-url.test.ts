import { guardingManager, recordingFetch, type Sent } from '@tokenlane/testing/guarded-apis'
import { testTrickyCalls } from '@tokenlane/testing/tricky-url'
import fc from 'fast-check'
import { expect, test } from 'vitest'

import { createFetch } from '../src/index.ts'

testTrickyCalls({
  runs: 45_000,
  how: fc.constantFrom('text', 'URL', 'Request'),
  open(sent) {
    const fetch = createFetch(guardingManager(), { fetch: recordingFetch(sent) })
    return (text, kind) => {
      const url = kind === 'text' ? text : (URL.parse(text) ?? text)
      return fetch(kind === 'Request' ? new Request(url) : url)
    }
  },
})

test('a URL object that changes while the call waits changes nothing', async () => {
  const sent: Sent[] = []
  const fetch = createFetch(guardingManager(), { fetch: recordingFetch(sent) })
  const url = new URL('https://api.example.com/records')
  const answer = fetch(url)
  url.hostname = 'evil.example'
  await answer
  expect(sent).toEqual([{ url: 'https://api.example.com/records', authorization: 'Bearer general' }])
})

test('what only looks like a Request is where `fetch` sends it', async () => {
  const sent: Sent[] = []
  const fetch = createFetch(guardingManager(), { fetch: recordingFetch(sent) })
  const twoFaced = { url: 'https://api.example.com/', href: 'https://api.example.com/' }
  await fetch(Object.assign(twoFaced, { toString: () => 'https://evil.example/' }) as never)
  expect(sent).toEqual([{ url: 'https://evil.example/', authorization: null }])
})

test('what tells another URL each time it is read is read once', async () => {
  const sent: Sent[] = []
  const fetch = createFetch(guardingManager(), { fetch: recordingFetch(sent) })
  const urls = ['https://api.example.com/records', 'https://evil.example/']
  await fetch({ toString: () => urls.shift() ?? 'https://evil.example/' } as never)
  expect(sent).toEqual([{ url: 'https://api.example.com/records', authorization: 'Bearer general' }])
})

test('a URL that another parser may read otherwise is sent as it was read', async () => {
  const seen: unknown[] = []
  const fetch = createFetch(guardingManager(), {
    fetch: async (input) => (seen.push(input), new Response()),
  })
  await fetch('https:\\\\api.example.com\\@evil.example/')
  expect(seen).toEqual(['https://api.example.com/@evil.example/'])
})
