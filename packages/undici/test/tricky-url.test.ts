import { guardingManager, type Sent } from '@tokenlane/testing/guarded-apis'
import { testTrickyCalls } from '@tokenlane/testing/tricky-url'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Dispatcher } from 'undici'

import { tokensInterceptor } from '../src/index.ts'

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

testTrickyCalls({
  runs: 15_000,
  how: fc.constantFrom('url', 'path'),
  open(sent) {
    const client = new Recorder(sent).compose(tokensInterceptor(guardingManager()))
    return (text, how) => {
      const url = URL.parse(text)
      const options =
        how === 'path'
          ? { origin: 'https://api.example.com', path: text.replace(/^(?:\w+:)?\/\/[^/]*/, '') }
          : { origin: url?.origin ?? text, path: (url?.pathname ?? text) + (url?.search ?? '') }
      return client.request({ ...options, method: 'GET' })
    }
  },
})

test('a path that leads out of its origin only in the eyes of a parser carries the token of its origin', async () => {
  const sent: Sent[] = []
  const client = new Recorder(sent).compose(tokensInterceptor(guardingManager()))
  const call = client.request({ origin: 'https://api.example.com', path: '//evil.example/', method: 'GET' })
  await expect(call).rejects.toThrow('not sent')
  expect(sent).toEqual([{ url: 'https://api.example.com//evil.example/', authorization: 'Bearer general' }])
})
