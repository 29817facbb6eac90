import { guardingManager, type Sent } from '@tokenlane/testing/guarded-apis'
import { testTrickyCalls } from '@tokenlane/testing/tricky-url'
import fc from 'fast-check'
import got, { type Got } from 'got'
import { expect, test } from 'vitest'

import { gotTokens } from '../src/index.ts'

const prefix = fc.constantFrom('https://api.example.com/v2', 'https://weblink.example.com/api/', '')

/** Where Node would send a request: what stands in the options goes before the URL. */
function recordingGot(sent: Sent[]): Got {
  return got.extend({
    retry: { limit: 0 },
    request(url, options) {
      const fields = options as { host?: string; hostname?: string; port?: string; path?: string }
      const {
        host,
        hostname = host ?? url.hostname,
        port = url.port,
        path = url.pathname + url.search,
      } = fields
      const { authorization = null } = options.headers as { authorization?: string }
      // got turns the user name of a URL into Basic credentials
      const isOwn = authorization?.startsWith('Basic ') === true
      const user = isOwn ? 'user@' : ''
      sent.push({
        url: `${url.protocol}//${user}${hostname}:${port}${path}`,
        authorization: isOwn ? null : authorization,
      })
      throw new Error('not sent')
    },
  })
}

testTrickyCalls({
  runs: 15_000,
  how: fc.record({ prefixUrl: prefix, isUrl: fc.boolean() }),
  open(sent) {
    const client = recordingGot(sent).extend(gotTokens(guardingManager()))
    return async (text, { prefixUrl, isUrl }) =>
      client(isUrl && prefixUrl === '' ? (URL.parse(text) ?? text) : text, { prefixUrl })
  },
})

test('a URL object that changes while the call waits changes nothing', async () => {
  const sent: Sent[] = []
  const client = recordingGot(sent).extend(gotTokens(guardingManager()))
  const url = new URL('https://api.example.com/records')
  const answer = client(url)
  url.hostname = 'evil.example'
  await expect(answer).rejects.toThrow('not sent')
  expect(sent).toEqual([{ url: 'https://api.example.com:/records', authorization: 'Bearer general' }])
})

test('a hook that comes after ours and sends the call elsewhere takes no token there', async () => {
  const sent: Sent[] = []
  const client = recordingGot(sent)
    .extend(gotTokens(guardingManager()))
    .extend({
      handlers: [
        (options, next) => {
          options.hooks.beforeRequest.push((normalized) => {
            normalized.url = new URL('https://evil.example/')
          })
          return next(options)
        },
      ],
    })
  await expect(client('https://api.example.com/records')).rejects.toThrow('not sent')
  expect(sent).toEqual([{ url: 'https://evil.example:/', authorization: null }])
})
