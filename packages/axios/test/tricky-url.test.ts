import { guardingManager, recordingFetch, type Sent } from '@tokenlane/testing/guarded-apis'
import { testTrickyCalls } from '@tokenlane/testing/tricky-url'
import axios, { type AxiosInstance, type CreateAxiosDefaults, type InternalAxiosRequestConfig } from 'axios'
import fc from 'fast-check'
import { expect, test } from 'vitest'

import { attachTokens } from '../src/index.ts'

interface NodeOptions {
  readonly protocol: string
  readonly auth?: string
  readonly hostname: string
  readonly port: string
  readonly path: string
  readonly headers: { readonly Authorization?: string }
}

/** An instance whose own adapters make of a call what they would send, and then do not. */
function recordingAxios(sent: Sent[], defaults: CreateAxiosDefaults = {}, asked?: () => void): AxiosInstance {
  const transport = {
    request({ protocol, auth, hostname, port, path, headers }: NodeOptions): never {
      const user = auth === undefined ? '' : 'user@'
      sent.push({
        url: `${protocol}//${user}${hostname}:${port}${path}`,
        authorization: headers.Authorization ?? null,
      })
      throw new Error('not sent')
    },
  }
  const fetch = recordingFetch(sent)
  const instance = axios.create({ ...defaults, transport, env: { fetch } })
  attachTokens(instance, guardingManager(asked))
  return instance
}

testTrickyCalls({
  runs: 25_000,
  how: fc.record({
    which: fc.constantFrom(0, 1),
    given: fc.record({
      baseURL: fc.constantFrom('https://api.example.com/v2', 'https://weblink.example.com/api/', undefined),
      allowAbsoluteUrls: fc.constantFrom(true, false, undefined),
      adapter: fc.constantFrom('http', 'fetch'),
      params: fc.constantFrom(undefined, { page: 2 }, { '../..': '@evil.example/' }),
    }),
  }),
  open(sent) {
    let said = {}
    // with defaults that the call does without, as an interceptor may say
    const instances = [{}, { baseURL: 'https://api.example.com/v2', allowAbsoluteUrls: false }].map(
      (defaults) => {
        const instance = recordingAxios(sent, defaults)
        instance.interceptors.request.use((config) => Object.assign(config, said))
        return instance
      },
    )
    return async (url, { which, given }) => {
      said = given
      return instances[which]?.get(url)
    }
  },
  // where axios sends Basic credentials that were in the URL; where its adapters do not agree what the path is
  mayGoWithout: ({ authorization }, url, { given: { params } }) =>
    authorization === null
      ? params !== undefined && /[\0-\x20]$/.test(url)
      : authorization.startsWith('Basic '),
})

test("a base URL that an interceptor takes off does not count, though it is the instance's", async () => {
  const sent: Sent[] = []
  const instance = recordingAxios(sent, { baseURL: 'https://api.example.com/', allowAbsoluteUrls: false })
  instance.interceptors.request.use((config) => {
    delete config.baseURL
    return config
  })
  await expect(instance.get('https://evil.example/')).rejects.toThrow('not sent')
  expect(sent).toEqual([{ url: 'https://evil.example:/', authorization: null }])
})

test('a config or URL object that changes while the call waits changes nothing', async () => {
  const url = new URL('https://api.example.com/records')
  const held: InternalAxiosRequestConfig[] = []
  const sent: Sent[] = []
  const instance = recordingAxios(sent, {}, () => {
    url.hostname = 'evil.example'
    for (const config of held) config.baseURL = config.url = 'https://evil.example/'
  })
  instance.interceptors.request.use((config) => {
    held.push(config)
    return config
  })
  await Promise.allSettled([instance.get(url as never), instance.get('https://api.example.com/records')])
  const records = { url: 'https://api.example.com:/records', authorization: 'Bearer general' }
  expect(sent).toEqual([records, records])
})
