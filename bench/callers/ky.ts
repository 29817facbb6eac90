import { kyTokens } from '@tokenlane/ky'
import ky from 'ky'
import PQueue from 'p-queue'

import { body, type Setting, type Variants } from '../support/variants.ts'

export function variantsOfKy({ openUrl, url, authorization, tokens, limited }: Setting): Variants {
  const header = ky.extend({ hooks: { beforeRequest: [setHeader] } })

  /** Sends a request of its own, so that the token does not stay with ky. */
  async function send(request: Request, init: RequestInit | undefined): Promise<Response> {
    const headers = new Headers(request.headers)
    headers.set('authorization', authorization)
    const response = await fetch(new Request(request, { headers }), init)
    return response
  }
  const wrapper = ky.extend({ fetch: (request, init) => send(request as Request, init) })
  const queue = new PQueue({ concurrency: 1_000 })
  const queued = ky.extend({ fetch: (request, init) => queue.add(() => send(request as Request, init)) })

  const managed = ky.extend(kyTokens(tokens))
  const managedQueued = ky.extend(kyTokens(limited))

  return {
    bare: () => ky(openUrl).json(),
    'constant header': () => header(url).json(),
    'wrapper by hand': () => wrapper(url).json(),
    'wrapper, p-queue': () => queued(url).json(),
    Tokenlane: () => managed(url).json(),
    'Tokenlane, policy': () => managedQueued(url).json(),
    'bare, POST': () => ky.post(openUrl, { json: body }).json(),
    'wrapper by hand, POST': () => wrapper.post(url, { json: body }).json(),
    'Tokenlane, POST': () => managed.post(url, { json: body }).json(),
  }

  function setHeader({ request }: { request: Request }): void {
    request.headers.set('authorization', authorization)
  }
}
