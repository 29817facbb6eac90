import { openScriptedApi, type ScriptedApi } from '@tokenlane/conformance'
import { fakeTokens } from '@tokenlane/core/testing'
import { describe, expect, onTestFinished, test } from 'vitest'

import { createFetch } from '../src/index.ts'

type Init = Parameters<typeof globalThis.fetch>[1]

/** Options as wrappers of `fetch` keep them. */
class Options {
  get method(): string {
    return 'POST'
  }
  get headers(): Record<string, string> {
    return { 'x-of': 'class' }
  }
  get body(): string {
    return 'x'
  }
}

const inits: Record<string, object> = {
  'getters of its class': new Options(),
  'members that it inherits': Object.create({ method: 'POST', headers: { 'x-of': 'class' }, body: 'x' }),
}

async function open(): Promise<{ api: ScriptedApi; fetch: typeof globalThis.fetch }> {
  const api = await openScriptedApi()
  onTestFinished(() => api.close())
  return { api, fetch: createFetch(fakeTokens({ apis: [api.url] })) }
}

describe.each(Object.entries(inits))('an init with %s is read as fetch reads it', (_, init) => {
  test.each(['a URL', 'a Request'])('beside %s', async (kind) => {
    const { api, fetch } = await open()
    const input = kind === 'a URL' ? api.url : new Request(api.url)
    await fetch(input, init)
    await globalThis.fetch(input, init)
    const [ours, bare] = api.requests.map(({ method, body, headers }) => ({ method, body, headers }))
    expect(bare).toMatchObject({ method: 'POST', body: Buffer.from('x'), headers: { 'x-of': 'class' } })
    expect(ours).toEqual({ ...bare, headers: { ...bare?.headers, authorization: 'Bearer test-token' } })
  })
})

test("an `Authorization` that an init inherits is the caller's own", async () => {
  const { api, fetch } = await open()
  const headers = { authorization: 'Bearer mine' }
  for (const input of [api.url, new Request(api.url)]) await fetch(input, Object.create({ headers }) as Init)
  expect(api.requests.map((request) => request.headers.authorization)).toEqual(['Bearer mine', 'Bearer mine'])
})
