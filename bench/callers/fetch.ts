import { OAuth2Client, OAuth2Fetch } from '@badgateway/oauth2-client'
import { createFetch, installTokens } from '@tokenlane/fetch'
import PQueue from 'p-queue'

import { body, type Setting, variantsOf, type Variants } from '../support/variants.ts'

type Fetch = typeof globalThis.fetch

export function variantsOfFetch(setting: Setting): Variants {
  const { url, authorization, tokens, limited } = setting
  // callers give something of their own, so that headers have to be put together
  const init: RequestInit = { headers: { accept: 'application/json' } }
  const post: RequestInit = {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
  const wrapper: Fetch = async (input, given) => {
    const headers = new Headers(given?.headers)
    headers.set('authorization', authorization)
    const response = await fetch(input, { ...given, headers })
    return response
  }
  const queue = new PQueue({ concurrency: 1_000 })
  const client = new OAuth2Client({
    clientId: 'client',
    clientSecret: 'secret',
    tokenEndpoint: new URL('/token', url).href,
    authenticationMethod: 'client_secret_post',
  })
  const peer = new OAuth2Fetch({
    client,
    getNewToken: () => client.clientCredentials(),
    scheduleRefresh: false,
  })
  /** At its first call: only then, the process makes calls of this variant alone. */
  let installed: Fetch = (...call) => {
    installTokens(tokens)
    installed = fetch
    return installed(...call)
  }

  return variantsOf<Fetch>(
    setting,
    {
      bare: fetch,
      'constant header': (input) => fetch(input, { headers: { accept: 'application/json', authorization } }),
      'wrapper by hand': wrapper,
      'wrapper, p-queue': (input, given) => queue.add(() => wrapper(input, given)),
      Tokenlane: createFetch(tokens),
      'Tokenlane, policy': createFetch(limited),
      'Tokenlane, installed': (...call) => installed(...call),
      '@badgateway/oauth2-client': (input, given) => peer.fetch(input, given),
    },
    async (send, at) => (await send(at, init)).json(),
    async (send, at) => (await send(at, post)).json(),
  )
}
