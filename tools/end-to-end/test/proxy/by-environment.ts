import { attachTokens } from '@tokenlane/axios'
import { createTokenManager, envCredentials, generalIssuer } from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'
import { gotTokens } from '@tokenlane/got'
import { kyTokens } from '@tokenlane/ky'
import { tokensInterceptor } from '@tokenlane/undici'
import axios from 'axios'
import got from 'got'
import ky from 'ky'
import { EnvHttpProxyAgent, request } from 'undici'

const { AUTH_URL: authUrl = '', API_URL: apiUrl = '' } = process.env
const tokens = createTokenManager({
  issuers: { general: generalIssuer({ authUrl, credentials: envCredentials('GENERAL') }) },
  apis: [{ baseUrl: apiUrl, issuer: 'general' }],
})

// HTTPS_PROXY with NODE_USE_ENV_PROXY=1 is all that they need; of undici's agents only this one reads HTTPS_PROXY
const clients: Record<string, (url: string) => Promise<number | undefined>> = {
  async fetch(url) {
    const fetch = createFetch(tokens)
    return (await fetch(url)).status
  },
  async axios(url) {
    const client = axios.create()
    attachTokens(client, tokens)
    return (await client.get(url)).status
  },
  async got(url) {
    return (await got.extend(gotTokens(tokens)).get(url)).statusCode
  },
  async ky(url) {
    return (await ky.extend(kyTokens(tokens)).get(url)).status
  },
  async undici(url) {
    const dispatcher = new EnvHttpProxyAgent().compose(tokensInterceptor(tokens))
    return (await request(url, { dispatcher })).statusCode
  },
}

const [, , name = 'fetch'] = process.argv
console.log(name, await clients[name]?.(`${apiUrl}records`))
await tokens.close()
