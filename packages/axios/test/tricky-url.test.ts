import { astray, guardingManager, recordingFetch, type Sent } from '@tokenlane/testing/guarded-apis'
import { trickyUrl } from '@tokenlane/testing/tricky-url'
import axios, { type AxiosInstance, type CreateAxiosDefaults, type InternalAxiosRequestConfig } from 'axios'
import fc from 'fast-check'
import { expect, test } from 'vitest'

import { attachTokens } from '../src/index.ts'

// so many calls take their time on a busy machine
const patience = { timeout: 120_000 }
const runs = 25_000

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

test(`${runs} tricky URLs carry the token of the API that they lead to, or none`, patience, async () => {
  const sent: Sent[] = []
  const option = fc.record({
    baseURL: fc.constantFrom('https://api.example.com/v2', 'https://weblink.example.com/api/', undefined),
    allowAbsoluteUrls: fc.constantFrom(true, false, undefined),
    adapter: fc.constantFrom('http', 'fetch'),
    params: fc.constantFrom(undefined, { page: 2 }, { '../..': '@evil.example/' }),
  })
  // with defaults that the call does without, as an interceptor may say
  const defaults = [{}, { baseURL: 'https://api.example.com/v2', allowAbsoluteUrls: false }]
  const instances = defaults.map((given) => recordingAxios(sent, given))
  let said = {}
  for (const { interceptors } of instances) interceptors.request.use((config) => Object.assign(config, said))
  const total = { token: 0, none: 0 }
  await fc.assert(
    fc.asyncProperty(fc.nat(1), trickyUrl, option, async (which, url, given) => {
      sent.length = 0
      const instance = instances[which] as AxiosInstance
      said = given
      // what axios does not take is not sent
      await instance.get(url).catch(() => {})
      expect(astray(sent).filter(({ authorization }) => !mayGoWithout(authorization, url, given))).toEqual([])
      for (const { authorization } of sent) total[authorization === null ? 'none' : 'token'] += 1
    }),
    { numRuns: runs },
  )
  expect(Math.min(...Object.values(total))).toBeGreaterThan(500)
})

/** Where axios sends Basic credentials that were in the URL; where its adapters do not agree what the path is. */
function mayGoWithout(authorization: string | null, url: string, { params }: { params: unknown }): boolean {
  if (authorization === null) return params !== undefined && /[\0-\x20]$/.test(url)
  return authorization.startsWith('Basic ')
}

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
