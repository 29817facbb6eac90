import { afterEach, expect, test, vi } from 'vitest'

import { uncached } from './issuer-request.ts'

afterEach(() => vi.unstubAllGlobals())

const url = 'https://auth.example.com/token'
const respond = () => vi.fn<typeof fetch>(async () => new Response())

test('what a framework put in the place of `fetch` is passed by: it may cache against `no-store`', async () => {
  const original = respond()
  const caching = respond()
  vi.stubGlobal('fetch', Object.assign(caching, { _nextOriginalFetch: original }))
  await uncached()(url, { method: 'POST' })
  expect(caching).not.toHaveBeenCalled()
  expect(original).toHaveBeenCalledWith(url, { method: 'POST', cache: 'no-store' })
})

test('a `fetch` of the caller is used as it is', async () => {
  const own = Object.assign(respond(), { _nextOriginalFetch: respond() })
  await uncached(own)(url, {})
  expect(own).toHaveBeenCalledWith(url, { cache: 'no-store' })
})

test('a runtime whose requests know no `cache` gets none', async () => {
  const own = respond()
  vi.stubGlobal(
    'Request',
    vi.fn(function refuse() {
      throw new TypeError("The 'cache' field on 'RequestInitializerDict' is not implemented.")
    }),
  )
  await uncached(own)(url, {})
  expect(own).toHaveBeenCalledWith(url, {})
})
