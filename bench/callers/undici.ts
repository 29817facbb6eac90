import { tokensInterceptor } from '@tokenlane/undici'
import { Agent, DecoratorHandler, type Dispatcher, request } from 'undici'

import { body, type Setting, variantsOf, type Variants } from '../support/variants.ts'

export function variantsOfUndici(setting: Setting): Variants {
  const { authorization, tokens, limited } = setting
  const headers = { accept: 'application/json' }
  type Handler = Dispatcher.DispatchHandler
  const withHeader =
    (decorated: (handler: Handler) => Handler): Dispatcher.DispatcherComposeInterceptor =>
    (dispatch) =>
    (options, handler) =>
      dispatch({ ...options, headers: { ...(options.headers as object), authorization } }, decorated(handler))
  const post = {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }

  return variantsOf<Dispatcher>(
    setting,
    {
      bare: new Agent(),
      'constant header': new Agent().compose(withHeader((handler) => handler)),
      'wrapper by hand': new Agent().compose(withHeader((handler) => new DecoratorHandler(handler))),
      Tokenlane: new Agent().compose(tokensInterceptor(tokens)),
      'Tokenlane, policy': new Agent().compose(tokensInterceptor(limited)),
    },
    async (dispatcher, url) => (await request(url, { dispatcher, headers })).body.json(),
    async (dispatcher, url) => (await request(url, { dispatcher, ...post })).body.json(),
  )
}
