import { attachTokens } from '@tokenlane/axios'
import type { TokenManager } from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'
import { gotTokens } from '@tokenlane/got'
import { kyTokens } from '@tokenlane/ky'
import { tokensInterceptor } from '@tokenlane/undici'
import axios from 'axios'
import got from 'got'
import ky from 'ky'
import { getGlobalDispatcher, request } from 'undici'

/** Every client, as a function that returns the body of a response. */
export const clients: Readonly<Record<string, (tokens: TokenManager) => (url: string) => Promise<unknown>>> =
  {
    fetch(tokens) {
      const client = createFetch(tokens)
      return async (url) => (await client(url)).json()
    },
    axios(tokens) {
      const client = axios.create()
      attachTokens(client, tokens)
      return async (url) => (await client.get<unknown>(url)).data
    },
    got(tokens) {
      const client = got.extend(gotTokens(tokens), { retry: { limit: 0 } })
      return (url) => client(url).json()
    },
    undici(tokens) {
      return async (url) => {
        const dispatcher = getGlobalDispatcher().compose(tokensInterceptor(tokens))
        const { body } = await request(url, { dispatcher })
        return body.json()
      }
    },
    ky(tokens) {
      const client = ky.extend(kyTokens(tokens)).extend({ retry: 0 })
      return (url) => client(url).json()
    },
  }
