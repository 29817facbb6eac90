import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'

import { init } from '../src/commands/init.ts'
import { CannotLook, WrongUsage } from '../src/exit-status.ts'
import { bootstrapText } from '../src/init/bootstrap.ts'
import { serverFor } from '../src/metadata/public-response.ts'
import { certificate, closeServers, tlsServer } from './support/servers.ts'

let printed = ''
let told = ''
beforeEach(() => {
  printed = ''
  told = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text)
    return true
  })
  vi.spyOn(console, 'error').mockImplementation((text: string) => {
    told += `${text.replaceAll(/\s+/g, ' ')}\n`
  })
})
afterEach(() => {
  vi.restoreAllMocks()
  closeServers()
})

/** Starts a server, and returns its origin and the requests that it got. */
async function serve(listener: RequestListener): Promise<{ origin: string; requests: string[] }> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    expect(request.headers.authorization).toBeUndefined()
    requests.push(`${request.method} ${request.url}`)
    listener(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

type Documents = Readonly<Record<string, object | string>>

/** A server that responds to a path of these with JSON, and to any other with 401 and this challenge. */
const publishing =
  (documents: () => Documents, challenge = 'Bearer'): RequestListener =>
  ({ url = '' }, response) => {
    const found = documents()[url]
    if (found === undefined) response.writeHead(401, { 'www-authenticate': challenge }).end()
    else response.end(typeof found === 'string' ? found : JSON.stringify(found))
  }

const ofApi = '/.well-known/oauth-protected-resource/mcp'
const ofServer = '/.well-known/oauth-authorization-server'

/** Starts an authorization server, and an API that names it. `fields` replace those of the metadata. */
async function startBoth({
  api: apiFields = {},
  server: serverFields = {},
  challenge,
}: { api?: object; server?: object; challenge?: string } = {}) {
  const server = await serve(
    publishing(() => ({
      [ofServer]: {
        issuer: server.origin,
        token_endpoint: `${server.origin}/token`,
        token_endpoint_auth_methods_supported: ['none', 'private_key_jwt', 'client_secret_post'],
        ...serverFields,
      },
    })),
  )
  const api = await serve(
    publishing(
      () => ({
        [ofApi]: { resource: `${api.origin}/mcp`, authorization_servers: [server.origin], ...apiFields },
      }),
      challenge,
    ),
  )
  return { server, api, url: `${api.origin}/mcp` }
}

test('nothing is sent to an authorization server that the API alone names', async () => {
  const { server, api, url } = await startBoth()
  await expect(init(url, {})).rejects.toThrow(`If you trust it, confirm it: --issuer ${server.origin}/`)
  expect(server.requests).toEqual([])
  expect(api.requests).toEqual(['GET /mcp', `GET ${ofApi}`])
  expect(told).toContain(`names this authorization server: ${server.origin}.`)
  expect(told).toContain(`only ${new URL(url).host} names this server: ${server.origin}/. Compare`)
  expect(printed).toBe('')
})

test('a server that is named by --issuer is asked once, and the bootstrap is printed', async () => {
  const { server, url } = await startBoth({ challenge: 'Basic realm="a", Bearer scope="read write"' })
  expect(await init(url, { issuer: server.origin, name: 'crm' })).toBe(0)
  expect(server.requests).toEqual([`GET ${ofServer}`])
  expect(printed).toBe(`// tokens.ts
import { createTokenManager, envCredentials, oauthIssuer } from '@tokenlane/core'

export const tokens = createTokenManager({
  issuers: {
    crm: oauthIssuer({
      tokenEndpoint: '${server.origin}/token',
      clientAuthentication: 'client_secret_post',
      credentials: envCredentials('CRM'),
      scope: 'read write',
      parameters: { resource: '${url}' },
      allowInsecureLoopback: true,
    }),
  },
  apis: [{ baseUrl: '${url}', issuer: 'crm' }],
})

# .env: the client registered at ${server.origin}
CRM_CLIENT_ID=
CRM_CLIENT_SECRET=
`)
})

test.each([
  ['/tenant/.well-known/openid-configuration', '/tenant'],
  ['/.well-known/oauth-authorization-server/tenant', '/tenant'],
  ['/.well-known/openid-configuration', '/'],
])('for the metadata at %s, --issuer means its issuer', async (path, issuer) => {
  const { server, url } = await startBoth()
  const own = await serve(
    publishing(() => ({ [path]: { issuer: own.origin + issuer, token_endpoint: server.origin } })),
  )
  expect(await init(url, { issuer: own.origin + path })).toBe(0)
  expect(told).toContain(`${own.origin} says that tokens are issued at ${server.origin}/.`)
})

test('with --write the bootstrap is a new file in a new folder, and a file that is there is never replaced', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'init-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const { url, server, api } = await startBoth()
  const file = join(folder, 'src', 'tokens.ts')
  expect(await init(url, { issuer: server.origin, name: 'crm', write: file })).toBe(0)
  expect(readFileSync(file, 'utf8')).toContain('export const tokens = createTokenManager({')
  expect(printed).toMatch(/^# \.env: [^\n]+\nCRM_CLIENT_ID=\nCRM_CLIENT_SECRET=\n$/)

  writeFileSync(file, 'mine')
  const before = api.requests.length
  await expect(init(url, { issuer: server.origin, write: file })).rejects.toThrow(
    `Cannot write ${file}: it exists already`,
  )
  expect(api.requests).toHaveLength(before)
  expect(readFileSync(file, 'utf8')).toBe('mine')
  const nowhere = join(file, 'tokens.ts')
  await expect(init(url, { issuer: server.origin, write: nowhere })).rejects.toThrow(
    `Cannot write ${nowhere}: EEXIST`,
  )
})

test('options decide where the server and the API leave a choice', async () => {
  const { server, url } = await startBoth({ api: { scopes_supported: ['a', 'b'] } })
  const options = { issuer: server.origin, clientAuthentication: 'private_key_jwt', scope: 'a' } as const
  expect(await init(url, options)).toBe(0)
  expect(told).toContain('client_secret_post, private_key_jwt (--client-authentication).')
  expect(told).toContain('The API lists these scopes: a b')
  expect(printed).toContain(`assertionAudience: '${server.origin}'`)
  expect(printed).toContain("scope: 'a'")
  expect(printed).toContain('\nAPI_CLIENT_ID=\nAPI_PRIVATE_KEY=\n')
})

test('a server that the API does not name is the one that is asked', async () => {
  const { server: named, url } = await startBoth()
  const { server: other } = await startBoth()
  expect(await init(url, { issuer: other.origin })).toBe(0)
  expect(told).toContain(`You trust ${other.origin}/, which is not one of those.`)
  expect(named.requests).toEqual([])
  expect(printed).toContain(`${other.origin}/token`)
})

test('metadata of the API at another server is not read', async () => {
  const elsewhere = await serve(publishing(() => ({ '/of-api': {} })))
  const { server, url } = await startBoth({
    challenge: `Bearer resource_metadata="${elsewhere.origin}/of-api"`,
  })
  await init(url, { issuer: server.origin })
  expect(told).toContain(`its metadata is on another server, ${elsewhere.origin}, which is not asked`)
  expect(elsewhere.requests).toEqual([])
})

test.each([
  ['of another origin', { resource: 'https://other.example.com/mcp' }],
  ['of another path', { resource: 'http://127.0.0.1/mcpx' }],
  ['of nothing', { resource: undefined }],
])('metadata %s is not used', async (_, fields) => {
  const { server, url } = await startBoth({ api: fields })
  await expect(init(url, {})).rejects.toThrow('Name the authorization server that you trust: --issuer <url>')
  expect(told).toContain('so it is ignored (RFC 9728 §3.3)')
  expect(server.requests).toEqual([])
})

test.each([
  ['another issuer', { issuer: 'https://other.example.com' }, "publishes another issuer's metadata"],
  ['no token endpoint', { token_endpoint: undefined }, 'publishes no token endpoint'],
  ['one without TLS', { token_endpoint: 'http://auth.example.com/token' }, 'publishes no token endpoint'],
])('metadata of an authorization server with %s is not used', async (_, fields, why) => {
  const { server, url } = await startBoth({ server: fields })
  await expect(init(url, { issuer: server.origin })).rejects.toThrow('--token-endpoint <url>')
  expect(told).toContain(why)
  expect(await init(url, { tokenEndpoint: `${server.origin}/other/token` })).toBe(0)
  expect(printed).toContain(`tokenEndpoint: '${server.origin}/other/token'`)
})

test('a token endpoint at another server, a missing grant and DPoP are told', async () => {
  const { server, url } = await startBoth({
    api: { dpop_bound_access_tokens_required: true },
    server: { token_endpoint: 'https://tokens.example.com/t', grant_types_supported: ['implicit'] },
  })
  expect(await init(url, { issuer: server.origin, resource: false })).toBe(0)
  expect(told).toContain(`the secret will go to https://tokens.example.com, because ${server.origin} says so`)
  expect(told).toContain('does not list client credentials')
  expect(told).toContain('DPoP')
  expect(printed).not.toContain('resource')
})

test('a path that looks like a host is no other server', async () => {
  const { server, url } = await startBoth()
  const other = await serve(publishing(() => ({})))
  const issuer = `${server.origin}//${new URL(other.origin).host}`
  await expect(init(url, { issuer })).rejects.toThrow('--token-endpoint <url>')
  expect(other.requests).toEqual([])
})

test('an API by TLS cannot name a server without TLS', async () => {
  const { server } = await startBoth()
  expect(serverFor(new URL('https://api.example.com/'), server.origin)).toBeUndefined()
  expect(serverFor(new URL('https://api.example.com/'), 'https://auth.example.com')?.href).toBe(
    'https://auth.example.com/',
  )
})

test('a redirect is told and not followed', async () => {
  const target = await serve((_, response) => response.end())
  const api = await serve((_, response) => response.writeHead(302, { location: target.origin }).end())
  expect(await init(api.origin, {})).toBe(1)
  expect(told).toContain(`redirects to ${target.origin}. If that is the API, use that URL instead.`)
  expect(target.requests).toEqual([])
})

test.each([
  [65_536, 'describes no resource'],
  [65_537, 'is larger than 64 KiB, and was not read'],
])('metadata of %i bytes', async (size, text) => {
  const api = await serve(publishing(() => ({ [ofApi]: '{}'.padEnd(size) })))
  const failed = await init(`${api.origin}/mcp`, {}).catch(String)
  expect(told + String(failed)).toContain(text)
})

test('a certificate that is not trusted, and TLS 1.1, end the command', async () => {
  const listener: RequestListener = (_, response) => response.end()
  const unknown = await tlsServer(listener)
  await expect(init(unknown, {})).rejects.toThrow(/Cannot reach https:\S+: (?:UNABLE_TO|SELF_SIGNED|DEPTH)/)
  const old = await tlsServer(listener, {
    ...(await certificate()),
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'DEFAULT@SECLEVEL=0',
  })
  await expect(init(old, {})).rejects.toThrow(CannotLook)
})

test.each([
  ['http://api.example.com/'],
  ['https://user:word@api.example.com/'],
  ['https://api.example.com/#part'],
])('%s is invalid usage', async (url) => {
  await expect(init(url, {})).rejects.toThrow(WrongUsage)
})

test.each(['api.example.com', 'localhost:8443', 'records'])('%s lacks a scheme', async (url) => {
  await expect(init(url, {})).rejects.toThrow(new WrongUsage('The URL must begin with https://'))
})

test.each([[{ name: '1st' }], [{ baseUrl: 'https://other.example.com/' }], [{ scope: 'a  b' }]])(
  '%j is invalid usage',
  async (options) => {
    const { server, url } = await startBoth()
    await expect(init(url, { ...options, issuer: server.origin })).rejects.toThrow(WrongUsage)
    expect(printed).toBe('')
  },
)

test('what servers wrote is told on one line, without what a terminal obeys', async () => {
  const { server, url } = await startBoth({
    api: { scopes_supported: [`\u001B[31mred${'x'.repeat(1_000)}`, 'two\nlines'] },
  })
  await init(url, { issuer: server.origin })
  expect(told).not.toContain('\u001B')
  expect(Math.max(...told.split('\n').map((line) => line.length))).toBeLessThan(400)
})

test('what servers wrote cannot end a string of the bootstrap', () => {
  const hostile = `https://a.example.com/'});process.exit();//\\\n\u2028"\${1}\``
  const text = bootstrapText({
    name: 'api',
    issuer: hostile,
    tokenEndpoint: hostile,
    clientAuthentication: 'private_key_jwt',
    scope: hostile,
    resource: hostile,
    baseUrl: hostile,
    insecureLoopback: false,
  })
  const module = text.replace(/^import .*$/m, '').replace('export const tokens =', '')
  const seen = runInNewContext(module, {
    createTokenManager: (options: unknown) => options,
    oauthIssuer: (options: unknown) => options,
    envCredentials: (prefix: string) => prefix,
  }) as unknown
  expect(JSON.parse(JSON.stringify(seen))).toEqual({
    issuers: {
      api: {
        tokenEndpoint: hostile,
        clientAuthentication: 'private_key_jwt',
        assertionAudience: hostile,
        credentials: 'API',
        scope: hostile,
        parameters: { resource: hostile },
      },
    },
    apis: [{ baseUrl: hostile, issuer: 'api' }],
  })
})
