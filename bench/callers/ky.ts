import { kyTokens } from '@tokenlane/ky'
import ky from 'ky'
import PQueue from 'p-queue'

import { body, type Setting, variantsOf, type Variants } from '../support/variants.ts'

export function variantsOfKy(setting: Setting): Variants {
  const { authorization, tokens, limited } = setting
  /** Sends a request of its own, so that the token does not stay with ky. */
  async function send(request: Request, init: RequestInit | undefined): Promise<Response> {
    const headers = new Headers(request.headers)
    headers.set('authorization', authorization)
    const response = await fetch(new Request(request, { headers }), init)
    return response
  }
  const queue = new PQueue({ concurrency: 1_000 })

  return variantsOf(
    setting,
    {
      bare: ky,
      'constant header': ky.extend({
        hooks: { beforeRequest: [({ request }) => request.headers.set('authorization', authorization)] },
      }),
      'wrapper by hand': ky.extend({ fetch: (request, init) => send(request as Request, init) }),
      'wrapper, p-queue': ky.extend({
        fetch: (request, init) => queue.add(() => send(request as Request, init)),
      }),
      Tokenlane: ky.extend(kyTokens(tokens)),
      'Tokenlane, policy': ky.extend(kyTokens(limited)),
    },
    (client, url) => client(url).json(),
    (client, url) => client.post(url, { json: body }).json(),
  )
}
