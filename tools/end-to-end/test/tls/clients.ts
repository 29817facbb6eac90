import { Agent } from 'node:https'

import { attachTokens } from '@tokenlane/axios'
import type { TokenManager } from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'
import { gotTokens } from '@tokenlane/got'
import { kyTokens } from '@tokenlane/ky'
import axios, { type CreateAxiosDefaults } from 'axios'
import got, { type ExtendOptions } from 'got'
import ky from 'ky'

/** Calls a URL, with a manager's tokens or, without a manager, as the bare client does. */
type Client = (url: string, tokens: TokenManager | undefined) => Promise<unknown>

/** Every way of the four clients to a server. */
export const clients: Readonly<Record<string, Client>> = {
  fetch: async (url, tokens) => (await (tokens ? createFetch(tokens) : fetch)(url)).text(),
  'fetch, your own': async (url, tokens) => {
    return (await (tokens ? createFetch(tokens, { fetch: ownFetch }) : ownFetch)(url)).text()
  },
  ky: async (url, tokens) => {
    const bare = ky.extend({ retry: 0 })
    return (tokens ? bare.extend(kyTokens(tokens)) : bare)(url).text()
  },
  axios: axiosWith({}),
  'axios, `maxRedirects: 0`': axiosWith({ maxRedirects: 0 }),
  "axios, `adapter: 'fetch'`": axiosWith({ adapter: 'fetch' }),
  'axios, `httpVersion: 2`': axiosWith({ httpVersion: 2 }),
  got: gotWith({}),
  'got, `timeout`': gotWith({ timeout: { request: 10_000 } }),
  'got, `http2: true`': gotWith({ http2: true }),
  'got, an agent that names no version': gotWith({ agent: { https: new Agent() } }),
}

function ownFetch(...call: Parameters<typeof fetch>): Promise<Response> {
  return fetch(...call)
}

function axiosWith(options: CreateAxiosDefaults): Client {
  return (url, tokens) => {
    const client = axios.create(options)
    if (tokens) attachTokens(client, tokens)
    return client.get(url)
  }
}

function gotWith(options: ExtendOptions): Client {
  return (url, tokens) => {
    const bare = got.extend({ retry: { limit: 0 }, ...options })
    return (tokens ? bare.extend(gotTokens(tokens)) : bare)(url).text()
  }
}
