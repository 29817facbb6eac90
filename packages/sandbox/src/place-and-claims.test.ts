import { X509Certificate } from 'node:crypto'
import { get } from 'node:https'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import tls from 'node:tls'
import { Worker } from 'node:worker_threads'

import { createRemoteJWKSet, customFetch, jwtVerify } from 'jose'
import { expect, test, vi } from 'vitest'

import { callApi, tokenOf } from '../test/client.ts'
import { startSandbox, type Sandbox } from './start-sandbox.ts'

/** Makes a request under a name that is this machine's for the sandbox alone. */
async function request(url: string, ca: string): Promise<{ status: number | undefined; body: string }> {
  const { hostname, port, pathname } = new URL(url)
  const call = get({
    host: '127.0.0.1',
    port,
    path: pathname,
    servername: hostname,
    ca,
    headers: { host: hostname },
  })
  const [response] = (await once(call, 'response')) as [IncomingMessage]
  return { status: response.statusCode, body: await text(response) }
}

test('a sandbox on every address has the name that it was given, and answers under all of its own', async () => {
  await using sandbox = await startSandbox({ host: '0.0.0.0', hostname: 'sandbox', control: true })
  const { authUrl, weblinkUrl, controlUrl, ca } = sandbox
  for (const url of [authUrl, weblinkUrl, controlUrl]) expect(new URL(url ?? '').hostname).toBe('sandbox')
  for (const name of ['sandbox', 'localhost', 'host.docker.internal'])
    expect(await request(`${authUrl.replace('sandbox', name)}/`, ca)).toMatchObject({ status: 404 })
  await expect(request(`${authUrl.replace('sandbox', 'other.example')}/`, ca)).rejects.toThrow('altnames')
  const { port } = new URL(controlUrl ?? '')
  const asked = await fetch(`http://localhost:${port}/openapi.json`)
  expect(asked.status).toBe(200)
})

test('a sandbox on every address without a name is at 127.0.0.1 for this machine', async () => {
  await using sandbox = await startSandbox({ host: '0.0.0.0' })
  expect(new URL(sandbox.authUrl).hostname).toBe('127.0.0.1')
  expect((await callApi(sandbox, 'general', { token: await tokenOf(sandbox, 'general') })).status).toBe(200)
})

test.each([
  [{ host: 'sandbox' }, '"host" must be an IP address, such as 127.0.0.1 or 0.0.0.0'],
  // of documentation, and of no machine
  [{ host: '203.0.113.1' }, '"host" must be an address of this machine, not 203.0.113.1 (EADDRNOTAVAIL)'],
  [{ hostname: 'a b' }, '"hostname" must be a host name or an IP address'],
  [{ hostname: 'https://sandbox' }, '"hostname" must be'],
  [{ issuers: { general: { claims: [] } } }, '"issuers.general.claims" must be an object of claims'],
  [
    { issuers: { general: { claims: { iss: 'me' } } } },
    '"issuers.general.claims" must be an object of claims, without iss',
  ],
])('%j is refused', async (options, reason) => {
  await expect(startSandbox(options as never)).rejects.toThrow(reason)
})

const jwksOf = ({ authUrl, weblinkAuthUrl, ca }: Sandbox, realm: 'general' | 'weblink') =>
  createRemoteJWKSet(new URL(`${realm === 'general' ? authUrl : weblinkAuthUrl}/jwks`), {
    [customFetch]: async (url) => {
      const { status, body } = await request(url, ca)
      return new Response(body, { status: status ?? 500, headers: { 'content-type': 'application/json' } })
    },
  })

test.each(['general', 'weblink'] as const)(
  'a resource server verifies tokens of the %s issuer that have claims of their own, by its keys',
  async (realm) => {
    const claims = { roles: ['admin'], tenant: { id: 7 }, aud: 'https://my-api.example.com' }
    await using sandbox = await startSandbox({ issuers: { [realm]: { claims } } })
    const token = await tokenOf(sandbox, realm)
    const { payload } = await jwtVerify(token, jwksOf(sandbox, realm), { audience: claims.aud })
    expect(payload).toMatchObject(claims)
    // the sandbox's own API takes it all the same, and knows its end
    expect((await callApi(sandbox, realm, { token })).status).toBe(200)
    sandbox.control.expireTokens(realm)
    expect((await callApi(sandbox, realm, { token })).status).toBe(401)
  },
)

test('metadata names the keys of an issuer with JWTs, and of no other', async () => {
  await using sandbox = await startSandbox({
    issuers: { general: { metadata: true }, weblink: { metadata: true } },
  })
  const { authUrl, weblinkAuthUrl, ca } = sandbox
  const wellKnown = '/.well-known/oauth-authorization-server'
  expect(JSON.parse((await request(authUrl + wellKnown, ca)).body)).toMatchObject({
    jwks_uri: `${authUrl}/jwks`,
  })
  expect(JSON.parse((await request(weblinkAuthUrl + wellKnown, ca)).body)).not.toHaveProperty('jwks_uri')
  await jwtVerify(await tokenOf(sandbox, 'general'), jwksOf(sandbox, 'general'))
  expect((await request(`${weblinkAuthUrl}/jwks`, ca)).status).toBe(404)
})

test('this process trusts a sandbox with a file of its authority until that is closed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'trust-'))
  const sandbox = await startSandbox({ caFile: join(folder, 'ca.pem') })
  expect((await fetch(`${sandbox.authUrl}/`)).status).toBe(404)
  await sandbox.close()
  // others of this process may still be trusted
  const { fingerprint } = new X509Certificate(sandbox.ca)
  const trusted = tls.getCACertificates('default').map((pem) => new X509Certificate(pem).fingerprint)
  expect(trusted).not.toContain(fingerprint)
  rmSync(folder, { recursive: true })
})

test('a worker thread, as those of test runners, trusts it by the file that the environment names', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'thread-'))
  await using sandbox = await startSandbox({ caFile: join(folder, 'ca.pem') })
  const code = `const { readFileSync } = require('node:fs')
    const tls = require('node:tls')
    tls.setDefaultCACertificates([...tls.getCACertificates(), readFileSync(process.env.NODE_EXTRA_CA_CERTS, 'utf8')])
    fetch(process.env.AUTH_URL).then(({ status }) => require('node:worker_threads').parentPort.postMessage(status))`
  const worker = new Worker(code, { eval: true, env: { ...process.env, ...sandbox.control.environment() } })
  expect(await once(worker, 'message')).toEqual([404])
  await worker.terminate()
  rmSync(folder, { recursive: true })
})

test.each([
  [{}, undefined],
  [{ HTTPS_PROXY: 'http://proxy.example:8080' }, 'localhost,127.0.0.1,::1'],
  [
    { http_proxy: 'http://proxy.example:8080', no_proxy: 'a.example, 127.0.0.1', NO_PROXY: '' },
    'a.example,127.0.0.1,localhost,::1',
  ],
])('with the variables %j, programs are kept off the proxy by NO_PROXY %j', async (variables, list) => {
  for (const name of [
    'HTTPS_PROXY',
    'https_proxy',
    'HTTP_PROXY',
    'http_proxy',
    'ALL_PROXY',
    'all_proxy',
    'NO_PROXY',
    'no_proxy',
  ])
    vi.stubEnv(name, (variables as Record<string, string>)[name])
  await using sandbox = await startSandbox()
  const { NO_PROXY, no_proxy: lowerCase } = sandbox.control.environment()
  vi.unstubAllEnvs()
  expect([NO_PROXY, lowerCase]).toEqual([list, list])
})
