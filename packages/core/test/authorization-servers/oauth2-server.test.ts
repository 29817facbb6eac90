import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import OAuth2Server from '@node-oauth/oauth2-server'
import { expect, test } from 'vitest'
import { createTokenManager, oauthIssuer, type IssuerOptions } from '../../src/index.ts'
import { useServer } from '../use-server.ts'

const client = { id: 'client1', grants: ['client_credentials'] }
const secrets = new Set<unknown>(['secret:1%/ +', 'aZ0-_.*'])
/** Fields of the last token request, as they were sent. */
let form = new URLSearchParams()

const oauth = new OAuth2Server({
  accessTokenLifetime: 60,
  model: {
    getClient: async (id, secret) => id === client.id && secrets.has(secret) && client,
    getUserFromClient: async () => ({}),
    saveToken: async (token) => ({ ...token, client, user: {} }),
    getAccessToken: async () => false,
    validateScope: async (_user, _client, scope) =>
      scope?.includes('admin') === true ? false : (scope ?? []),
  },
})

const server = useServer((request, response) => void answer(request, response))

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  form = new URLSearchParams(await text(request))
  const asked = new OAuth2Server.Request({
    method: request.method ?? '',
    query: {},
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': String(form.toString().length),
      ...(request.headers.authorization && { authorization: request.headers.authorization }),
    },
    body: Object.fromEntries(form),
  })
  const given = new OAuth2Server.Response({})
  await oauth.token(asked, given).catch(() => {})
  response.writeHead(given.status ?? 500, given.headers).end(JSON.stringify(given.body))
}

const tokenFrom = (
  options: Pick<Partial<IssuerOptions>, 'clientAuthentication' | 'credentials' | 'parameters' | 'scope'>,
): Promise<unknown> =>
  createTokenManager({
    issuers: {
      partner: oauthIssuer({
        tokenEndpoint: `${server.url}/token`,
        allowInsecureLoopback: true,
        credentials: { clientId: client.id, clientSecret: 'secret:1%/ +' },
        ...options,
      }),
    },
    apis: [],
  }).getToken('partner')

test('@node-oauth/oauth2-server takes client_secret_post, with every parameter and each of an array', async () => {
  const parameters = { audience: 'reports', resource: ['https://a.example.com', 'https://b.example.com'] }
  await expect(tokenFrom({ parameters, scope: 'read' })).resolves.toMatchObject({ issuer: 'partner' })
  expect([...form].filter(([name]) => !name.startsWith('client_'))).toEqual([
    ['scope', 'read'],
    ['audience', 'reports'],
    ['resource', 'https://a.example.com'],
    ['resource', 'https://b.example.com'],
    ['grant_type', 'client_credentials'],
  ])
})

test('@node-oauth/oauth2-server takes client_secret_basic where no character has to be encoded', async () => {
  // it decodes base64 only, and not the form encoding within (RFC 6749 §2.3.1)
  const by = (clientSecret: string): Promise<unknown> =>
    tokenFrom({
      clientAuthentication: 'client_secret_basic',
      credentials: { clientId: client.id, clientSecret },
    })
  await expect(by('aZ0-_.*')).resolves.toBeDefined()
  expect(form.has('client_secret')).toBe(false)
  await expect(by('secret:1%/ +')).rejects.toMatchObject({
    oauthError: 'invalid_client',
    message: expect.stringContaining('some servers do not form-decode') as string,
  })
})

test('@node-oauth/oauth2-server refuses a scope, and that is reported', async () => {
  await expect(tokenFrom({ scope: 'admin' })).rejects.toMatchObject({
    code: 'TOKEN_REQUEST_REFUSED',
    oauthError: 'invalid_scope',
  })
})
