import { Agent } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import { gotTokens } from '@tokenlane/got'
import got, { type ExtendOptions } from 'got'
import PQueue from 'p-queue'

import { body, type Setting, type Variants } from '../support/variants.ts'

export function variantsOfGot({ openUrl, url, authorization, tokens, limited }: Setting): Variants {
  const bare = got.extend({
    agent: { http: new Agent({ keepAlive: true }), https: new TlsAgent({ keepAlive: true }) },
  })
  const header = bare.extend({
    hooks: {
      beforeRequest: [
        (options) => {
          options.headers['authorization'] = authorization
        },
      ],
    },
  })

  /** A handler for the whole call, and got's `request` function, the one place where a token does not stay with got. */
  const sending: ExtendOptions = {
    request(_, options) {
      const { headers } = options as { headers: Record<string, unknown> }
      headers['authorization'] = authorization
      return undefined
    },
  }
  const wrapper = bare.extend({
    ...sending,
    handlers: [
      (options, next) => {
        const going = next(options)
        return (going as Promise<unknown>).finally(() => {}) as Promise<typeof going>
      },
    ],
  })
  const queue = new PQueue({ concurrency: 1_000 })

  const managed = bare.extend(gotTokens(tokens))
  const managedQueued = bare.extend(gotTokens(limited))

  return {
    bare: () => bare(openUrl).json(),
    'constant header': () => header(url).json(),
    'wrapper by hand': () => wrapper(url).json(),
    'wrapper, p-queue': () => queue.add(() => wrapper(url).json()),
    Tokenlane: () => managed(url).json(),
    'Tokenlane, policy': () => managedQueued(url).json(),
    'bare, POST': () => bare.post(openUrl, { json: body }).json(),
    'wrapper by hand, POST': () => wrapper.post(url, { json: body }).json(),
    'Tokenlane, POST': () => managed.post(url, { json: body }).json(),
  }
}
