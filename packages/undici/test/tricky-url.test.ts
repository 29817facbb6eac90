import { astray, guardingManager, type Sent } from '@tokenlane/testing/guarded-apis'
import { trickyUrl } from '@tokenlane/testing/tricky-url'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Dispatcher } from 'undici'

import { tokensInterceptor } from '../src/index.ts'

// so many calls take their time on a busy machine
const patience = { timeout: 120_000 }
const runs = 15_000

/** A dispatcher that sends nothing, and keeps where undici would have sent it: to the origin, with the path as it is. */
class Recorder extends Dispatcher {
  readonly #sent: Sent[]

  constructor(sent: Sent[]) {
    super()
    this.#sent = sent
  }

  override dispatch(
    { origin, path, headers }: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    const { authorization = null } = (headers ?? {}) as { authorization?: string }
    const { origin: place = '' } = URL.parse(String(origin)) ?? {}
    // undici refuses everything else
    if (/^\/[\u0021-\u00FF]*$/.test(path)) this.#sent.push({ url: place + path, authorization })
    handler.onResponseError?.(null as never, new Error('not sent'))
    return true
  }
}

const kind = fc.constantFrom('url', 'path')

test(`${runs} tricky URLs carry the token of the API that they lead to, or none`, patience, async () => {
  const sent: Sent[] = []
  const client = new Recorder(sent).compose(tokensInterceptor(guardingManager()))
  const total = { token: 0, none: 0 }
  await fc.assert(
    fc.asyncProperty(trickyUrl, kind, async (text, how) => {
      sent.length = 0
      const url = URL.parse(text)
      const options =
        how === 'path'
          ? { origin: 'https://api.example.com', path: text.replace(/^(?:\w+:)?\/\/[^/]*/, '') }
          : { origin: url?.origin ?? text, path: (url?.pathname ?? text) + (url?.search ?? '') }
      await client.request({ ...options, method: 'GET' }).catch(() => {})
      expect(astray(sent)).toEqual([])
      for (const { authorization } of sent) total[authorization === null ? 'none' : 'token'] += 1
    }),
    { numRuns: runs },
  )
  expect(Math.min(...Object.values(total))).toBeGreaterThan(500)
})

test('a path that leads out of its origin only in the eyes of a parser carries the token of its origin', async () => {
  const sent: Sent[] = []
  const client = new Recorder(sent).compose(tokensInterceptor(guardingManager()))
  const call = client.request({ origin: 'https://api.example.com', path: '//evil.example/', method: 'GET' })
  await expect(call).rejects.toThrow('not sent')
  expect(sent).toEqual([{ url: 'https://api.example.com//evil.example/', authorization: 'Bearer general' }])
})
