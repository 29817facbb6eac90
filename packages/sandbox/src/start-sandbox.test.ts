import { execFile } from 'node:child_process'
import { connect as connectPlain } from 'node:net'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { connect } from 'node:tls'
import { once } from 'node:events'
import { promisify } from 'node:util'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { callApi, exchange, requestToken, tokenOf } from '../test/client.ts'
import { realms } from './realm.ts'
import { startSandbox, type Sandbox } from './start-sandbox.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox()
})
afterAll(() => sandbox.close())

test('four origins, and URLs in the form that clients configure', () => {
  const { authUrl, weblinkAuthUrl, apiUrl, weblinkUrl } = sandbox
  expect(authUrl).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
  expect(weblinkAuthUrl).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
  expect(apiUrl).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/$/)
  expect(weblinkUrl).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/api\/$/)
  const origins = [authUrl, weblinkAuthUrl, apiUrl, weblinkUrl].map((url) => new URL(url).origin)
  expect(new Set(origins).size).toBe(4)
})

test('two client registrations that share nothing', () => {
  const { general, weblink } = sandbox.credentials
  expect(general.clientId).not.toBe(weblink.clientId)
  expect(general.clientSecret).not.toBe(weblink.clientSecret)
})

test.each(['TLSv1.2', 'TLSv1.3'] as const)('all four servers speak %s', async (version) => {
  for (const url of [sandbox.authUrl, sandbox.weblinkAuthUrl, sandbox.apiUrl, sandbox.weblinkUrl]) {
    const tls = { agent: false, ca: sandbox.ca, minVersion: version, maxVersion: version } as const
    expect((await exchange(sandbox, url, { tls })).status).toBeGreaterThanOrEqual(400)
  }
})

test('no server speaks TLS 1.1', async () => {
  for (const url of [sandbox.authUrl, sandbox.weblinkAuthUrl, sandbox.apiUrl, sandbox.weblinkUrl]) {
    const version = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
    const tls = { agent: false, ca: sandbox.ca, ...version } as const
    await expect(exchange(sandbox, url, { tls })).rejects.toThrow('alert protocol version')
  }
})

test('a client without its CA does not trust the sandbox', async () => {
  const tls = { agent: false as const, ca: [] }
  await expect(exchange(sandbox, sandbox.apiUrl, { tls })).rejects.toThrow(/certificate/)
})

test('the certificate is good for localhost and 127.0.0.1', async () => {
  const port = Number(new URL(sandbox.apiUrl).port)
  for (const name of ['localhost', '127.0.0.1']) {
    const servername = name === 'localhost' ? { servername: name } : {}
    const socket = connect({ host: '127.0.0.1', port, ca: sandbox.ca, ...servername })
    await once(socket, 'secureConnect')
    expect(socket.authorized).toBe(true)
    socket.destroy()
  }
})

test('a wrong option is refused', async () => {
  await expect(startSandbox({ records: -1 })).rejects.toThrow(
    '"records" must be a whole number from 0 to 9999999',
  )
})

test('the lifetime option is for both issuers', async () => {
  await using short = await startSandbox({ tokenLifetime: 2_500 })
  for (const realm of realms) {
    expect((await requestToken(short, realm)).json['expires_in']).toBe(2.5)
  }
})

test('closing cuts calls under way and connections that say nothing, and may be repeated', async () => {
  const own = await startSandbox()
  const token = await tokenOf(own, 'general')
  const cut = callApi(own, 'general', { path: 'slow?ms=60000', token }).catch((error: Error) => error)
  const silent = connectPlain(Number(new URL(own.apiUrl).port), '127.0.0.1')
  silent.on('error', () => {})
  await once(silent, 'connect')
  while (own.control.counts().apis.general.calls === 0) await callApi(own, 'general', { token })
  await Promise.all([own.close(), own.close()])
  expect(await cut).toMatchObject({ code: 'ECONNRESET' })
  await own.close()
  await expect(exchange(own, own.apiUrl)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
})

test('a process that closed its sandbox ends, and the sandbox printed nothing', async ({ signal }) => {
  const program = `
    import { startSandbox } from ${JSON.stringify(new URL('index.ts', import.meta.url).href)}
    import { callApi, requestToken, tokenOf } from ${JSON.stringify(new URL('../test/client.ts', import.meta.url).href)}
    const sandbox = await startSandbox()
    for (const realm of ['general', 'weblink']) {
      await requestToken(sandbox, realm, { client_secret: 'wrong', scope: 'wrong' }, { headers: { origin: 'https://example.com' } })
      const token = await tokenOf(sandbox, realm)
      await callApi(sandbox, realm, { path: 'records', token })
      callApi(sandbox, realm, { path: 'slow?ms=60000', token }).catch(() => {})
    }
    sandbox.control.slowIssuer('general', 60_000)
    requestToken(sandbox, 'general').catch(() => {})
    while (sandbox.control.counts().issuers.general.requests < 3) await new Promise(setImmediate)
    await sandbox.close()
  `
  const run = promisify(execFile)
  const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '--eval', program], {
    signal,
  })
  expect(stdout).toBe('')
  expect(stderr).toBe('')
})

test('a certificate file that cannot be written is refused with the name of its option', async () => {
  await expect(startSandbox({ caFile: '/no/such/ca.pem' })).rejects.toThrow(
    /^"caFile" cannot be written: ENOENT/,
  )
})

test('a child in any folder finds the certificate file, however its path was given', async () => {
  const path = join(tmpdir(), `ca-${process.pid}.pem`)
  await using other = await startSandbox({ caFile: relative('', path) })
  expect(other.control.environment()).toMatchObject({ NODE_EXTRA_CA_CERTS: path })
})
