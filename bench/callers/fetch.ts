import { OAuth2Client, OAuth2Fetch } from '@badgateway/oauth2-client'
import { createFetch } from '@tokenlane/fetch'
import PQueue from 'p-queue'

import { body, type Setting, type Variants } from '../support/variants.ts'

type Fetch = typeof globalThis.fetch

export function variantsOfFetch({ openUrl, url, authorization, tokens, limited }: Setting): Variants {
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
  const queued: Fetch = (input, given) => queue.add(() => wrapper(input, given))
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
  const managed = createFetch(tokens)
  const managedQueued = createFetch(limited)
  const read = async (answer: Promise<Response>): Promise<unknown> => (await answer).json()
  const withHeader = (): Promise<Response> =>
    fetch(url, { headers: { accept: 'application/json', authorization } })

  return {
    bare: () => read(fetch(openUrl, init)),
    'constant header': () => read(withHeader()),
    'wrapper by hand': () => read(wrapper(url, init)),
    'wrapper, p-queue': () => read(queued(url, init)),
    Tokenlane: () => read(managed(url, init)),
    'Tokenlane, policy': () => read(managedQueued(url, init)),
    '@badgateway/oauth2-client': () => read(peer.fetch(url, init)),
    'bare, POST': () => read(fetch(openUrl, post)),
    'wrapper by hand, POST': () => read(wrapper(url, post)),
    'Tokenlane, POST': () => read(managed(url, post)),
  }
}
