import { attachTokens } from '@tokenlane/axios'
import {
  createTokenManager,
  envCredentials,
  generalIssuer,
  weblinkIssuer,
  type AccessToken,
} from '@tokenlane/core'
import { fileCredentials } from '@tokenlane/core/node'
import { createTenants } from '@tokenlane/core/tenants'
import { createFetch, installTokens } from '@tokenlane/fetch'
import { gotTokens } from '@tokenlane/got'
import { kyTokens } from '@tokenlane/ky'
import { startSandbox, type Sandbox } from '@tokenlane/sandbox'
import { tokensInterceptor } from '@tokenlane/undici'
import axios from 'axios'
import got from 'got'
import ky from 'ky'
import { Agent, interceptors, request } from 'undici'

const tokens = createTokenManager({
  issuers: {
    general: generalIssuer({ authUrl: 'https://auth.example.com', credentials: envCredentials('GENERAL') }),
    weblink: weblinkIssuer({
      authUrl: 'https://weblink.example.com',
      credentials: fileCredentials('/run/secrets/weblink'),
    }),
  },
  apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general' }],
})
export const token: Promise<AccessToken> = tokens.getToken('weblink')
export const state: 'none' | 'live' | 'expired' = tokens.status().issuers.general.token
// @ts-expect-error a name of no issuer
void tokens.getToken('genral')
createTokenManager({
  issuers: { general: { tokenEndpoint: 'https://auth.example.com/token', credentials: [] } },
  // @ts-expect-error a name of no issuer
  apis: [{ baseUrl: 'https://api.example.com/', issuer: 'genral' }],
})
generalIssuer({
  authUrl: 'https://auth.example.com',
  // @ts-expect-error an issuer has one place
  tokenEndpoint: 'https://auth.example.com/token',
  credentials: [],
})
createTokenManager({
  issuers: {
    // @ts-expect-error an issuer has one place
    general: { tokenEndpoint: 'https://a.example/token', authUrl: 'https://a.example', credentials: [] },
  },
  apis: [],
})
const tenants = createTenants({
  options: (id) => ({
    issuers: {
      general: {
        tokenEndpoint: 'https://auth.example.com/token',
        credentials: { clientId: id, clientSecret: id },
      },
    },
    apis: [{ baseUrl: 'https://api.example.com/', issuer: 'general' }],
  }),
})
void tenants.get('acme').getToken('general')
// @ts-expect-error a name of no issuer
void tenants.get('acme').getToken('genral')
export async function scoped(): Promise<void> {
  await using closing = tokens
  await closing.warmUp()
}
const fetchWithTokens = createFetch(tokens)
export const answer: Promise<Response> = fetchWithTokens('https://api.example.com/orders', {
  tokenlane: { priority: 1 },
})
declare const fetchOfAnotherPackage: (
  url: URL | string,
  init?: { own?: boolean },
) => Promise<{ status: number }>
createFetch(tokens, { fetch: fetchOfAnotherPackage })
const http = axios.create()
attachTokens(http, tokens)
export const orders: Promise<{ data: unknown }> = http.get('https://api.example.com/orders', {
  tokenlane: { priority: 1 },
})
// @ts-expect-error a priority is a number
export const wrong: Promise<unknown> = http.get('/', { tokenlane: { priority: 'high' } })
const kyClient = ky.extend(kyTokens(tokens))
export const order: Promise<unknown> = kyClient('https://api.example.com/7', {
  tokenlane: { priority: 1 },
}).json()
const gotClient = got.extend(gotTokens(tokens))
export const invoices: Promise<unknown[]> = gotClient('https://api.example.com/invoices').json<unknown[]>()
const dispatcher = new Agent().compose(tokensInterceptor(tokens), interceptors.redirect())
const options = { tokenlane: { priority: 1 } }
export const receipt: Promise<{ statusCode: number }> = request('https://api.example.com/receipts/7', {
  dispatcher,
  ...options,
})
export const uninstall: () => void = installTokens(tokens)
// @ts-expect-error not a token manager
tokensInterceptor({})
export const sandbox: Promise<Sandbox> = startSandbox({ tokenLifetime: 1_000 })
