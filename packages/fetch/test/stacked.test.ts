import { openScriptedApi, type ScriptedApi } from '@tokenlane/conformance'
import type { TokenManager } from '@tokenlane/core'
import { fakeTokens } from '@tokenlane/core/testing'
import { kyTokens } from '@tokenlane/ky'
import { tokensInterceptor } from '@tokenlane/undici'
import ky from 'ky'
import { Agent } from 'undici'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { createFetch, installTokens } from '../src/index.ts'

type Fetch = typeof globalThis.fetch

const runtimes = globalThis.fetch
let a: ScriptedApi
let b: ScriptedApi
let bare: ScriptedApi

beforeEach(async () => {
  bare = await openScriptedApi(({ url }) =>
    url === '/to-b' ? { status: 307, headers: { location: `${b.url}chosen-by-bare` } } : { status: 200 },
  )
  b = await openScriptedApi()
  a = await openScriptedApi(({ url }) => {
    if (url === '/to-b') return { status: 307, headers: { location: `${b.url}chosen-by-a` } }
    if (url === '/far') return { status: 307, headers: { location: `${bare.url}to-b` } }
    return { status: 200 }
  })
})
afterEach(async () => {
  globalThis.fetch = runtimes
  await Promise.all([a.close(), b.close(), bare.close()])
})

/** A `fetch` with a manager's tokens, over another one. */
type Layer = (tokens: TokenManager, fetch: Fetch) => Fetch

const layers: Record<string, Layer> = {
  createFetch: (tokens, fetch) => createFetch(tokens, { fetch }),
  installTokens(tokens, fetch) {
    globalThis.fetch = fetch
    installTokens(tokens)
    return globalThis.fetch
  },
  ky: (tokens, fetch) => ky.create({ fetch, retry: 0, throwHttpErrors: false }).extend(kyTokens(tokens)),
}
const beneath: Record<string, Layer> = {
  ...layers,
  'the interceptor of undici': (tokens) => {
    const dispatcher = new Agent().compose(tokensInterceptor(tokens))
    return (input, init) => runtimes(input, { ...init, dispatcher } as object)
  },
  'a wrapper that makes a Request later, over createFetch': (tokens, fetch) => {
    const managed = createFetch(tokens, { fetch })
    return async (input, init) => {
      await new Promise((resolve) => setImmediate(resolve))
      return managed(new Request(input, init))
    }
  },
}

const orders = Object.keys(layers).flatMap((upper) => Object.keys(beneath).map((lower) => [upper, lower]))

describe.each(orders)('%s over %s', (upper, lower) => {
  const managers: Record<string, () => [TokenManager, TokenManager]> = {
    'one manager': () => {
      const tokens = fakeTokens({ apis: [a.url, b.url] })
      return [tokens, tokens]
    },
    'a manager each': () => [fakeTokens({ apis: [a.url] }), fakeTokens({ apis: [b.url] })],
    'a manager each, the other way round': () => [
      fakeTokens({ apis: [b.url] }),
      fakeTokens({ apis: [a.url] }),
    ],
  }

  test.each(Object.entries(managers))('%s: a hop that leaves an API is bare', async (_, open) => {
    const [above, below] = open()
    const send = layers[upper]!(above, beneath[lower]!(below, runtimes))
    for (const path of ['to-b', 'far']) await send(a.url + path, { method: 'POST', body: 'text' })
    const authorized = ({ requests }: ScriptedApi): unknown =>
      requests.map(({ url, headers }) => [url, headers.authorization !== undefined])
    expect([authorized(a), authorized(b), authorized(bare)]).toEqual([
      [
        ['/to-b', true],
        ['/far', true],
      ],
      [
        ['/chosen-by-a', false],
        ['/chosen-by-bare', false],
      ],
      [['/to-b', false]],
    ])
    // the next call to B has its token
    await send(`${b.url}next`)
    expect(b.requests.at(-1)?.headers.authorization).toBeDefined()
  })
})
