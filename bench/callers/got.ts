import { Agent } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import { gotTokens } from '@tokenlane/got'
import got, { type OptionsInit } from 'got'
import PQueue from 'p-queue'

import { body, type Setting, variantsOf, type Variants } from '../support/variants.ts'

/** got, as far as it is used here. */
type Client = (url: string, options?: OptionsInit) => { json(): Promise<unknown> }

export function variantsOfGot(setting: Setting): Variants {
  const { authorization, tokens, limited } = setting
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
  const wrapper = bare.extend({
    request(_, options) {
      const { headers } = options as { headers: Record<string, unknown> }
      headers['authorization'] = authorization
      return undefined
    },
    handlers: [
      (options, next) => {
        const going = next(options)
        return (going as Promise<unknown>).finally(() => {}) as Promise<typeof going>
      },
    ],
  })
  const queue = new PQueue({ concurrency: 1_000 })

  return variantsOf<Client>(
    setting,
    {
      bare,
      'constant header': header,
      'wrapper by hand': wrapper,
      'wrapper, p-queue': (url, options) => ({
        json: () => queue.add(() => wrapper(url, options).json()),
      }),
      Tokenlane: bare.extend(gotTokens(tokens)),
      'Tokenlane, policy': bare.extend(gotTokens(limited)),
    },
    (client, url) => client(url).json(),
    (client, url) => client(url, { method: 'POST', json: body }).json(),
  )
}
