import { afterEach, expect, test, vi } from 'vitest'
import { client } from '../../test/fake-issuer.ts'
import { createTokenManager } from '../index.ts'

afterEach(() => vi.unstubAllGlobals())

const url = 'https://auth.example.com/token'
const respond = () =>
  vi.fn<typeof globalThis.fetch>(async () => Response.json({ access_token: 'a', token_type: 'Bearer' }))
const post = (more: object): unknown => expect.objectContaining({ method: 'POST', ...more })

async function requestToken(fetch?: typeof globalThis.fetch): Promise<void> {
  const issuers = { general: { tokenEndpoint: url, credentials: client } }
  await createTokenManager({ issuers, apis: [], fetch }).warmUp()
}

test('what a framework put in the place of `fetch` is passed by: it may cache against `no-store`', async () => {
  const original = respond()
  const caching = respond()
  vi.stubGlobal('fetch', Object.assign(caching, { _nextOriginalFetch: original }))
  await requestToken()
  expect(caching).not.toHaveBeenCalled()
  expect(original).toHaveBeenCalledWith(url, post({ cache: 'no-store' }))
})

test('a `fetch` of the caller is used as it is', async () => {
  const own = Object.assign(respond(), { _nextOriginalFetch: respond() })
  await requestToken(own)
  expect(own).toHaveBeenCalledWith(url, post({ cache: 'no-store' }))
})

test('a runtime whose requests know no `cache` gets none', async () => {
  const own = respond()
  vi.stubGlobal(
    'Request',
    vi.fn(function refuse() {
      throw new TypeError("The 'cache' field on 'RequestInitializerDict' is not implemented.")
    }),
  )
  await requestToken(own)
  expect(own).toHaveBeenCalledWith(url, expect.not.objectContaining({ cache: 'no-store' }))
})
