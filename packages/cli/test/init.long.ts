// Long: processes of the command, and of what it printed.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { startSandbox } from '@tokenlane/sandbox'
import { afterAll, expect, onTestFinished, test } from 'vitest'

import { tokenlane } from './support/run.ts'
import { closeServers, testAuthority, tlsServer } from './support/servers.ts'

afterAll(closeServers)

test('what init prints for an API gets a token, once the two values are there', async () => {
  const sandbox = await startSandbox({
    issuers: { general: { metadata: true, clientAuthentication: 'client_secret_basic' } },
  })
  const folder = mkdtempSync(join(tmpdir(), 'init-'))
  // below this folder it finds the packages
  const home = mkdtempSync(fileURLToPath(new URL('applications/init-', import.meta.url)))
  onTestFinished(async () => {
    for (const each of [folder, home]) rmSync(each, { recursive: true })
    await sandbox.close()
  })
  const ca = join(folder, 'both.pem')
  writeFileSync(ca, `${sandbox.ca}\n${testAuthority}`)
  const api = await tlsServer(({ url = '', headers }, response) => {
    if (url.startsWith('/.well-known/'))
      response.end(JSON.stringify({ resource: `${api}/`, authorization_servers: [sandbox.authUrl] }))
    else response.writeHead(headers.authorization ? 200 : 401, { 'www-authenticate': 'Bearer' }).end()
  })
  const env = { NODE_EXTRA_CA_CERTS: ca }

  const asked = await tokenlane(['init', `${api}/records`], env)
  expect([asked.status, asked.stdout]).toEqual([3, ''])
  // both at once
  expect(asked.stderr).toContain(`confirm it: --issuer ${sandbox.authUrl}/`)
  expect(asked.stderr).toContain(`confirm it: --base-url ${api}/`)

  const trusted = ['--issuer', sandbox.authUrl, '--base-url', `${api}/`]
  const options = [...trusted, '--name', 'records', '--no-resource']
  const { status, stdout } = await tokenlane(['init', `${api}/records`, ...options], env)
  expect(status).toBe(0)
  const [module = '', variables = ''] = stdout.split('\n# .env')
  writeFileSync(join(home, 'tokens.ts'), module)
  expect(variables).toMatch(/\nRECORDS_CLIENT_ID=\nRECORDS_CLIENT_SECRET=\n$/)

  const { clientId, clientSecret } = sandbox.credentials.general
  const filled = { ...env, RECORDS_CLIENT_ID: clientId, RECORDS_CLIENT_SECRET: clientSecret }
  const token = await tokenlane(['token', 'records', '--print', 'json'], filled, home)
  expect(JSON.parse(token.stdout)).toMatchObject({ issuer: 'records' })
  const call = await tokenlane(['call', `${api}/records`], filled, home)
  expect([call.status, sandbox.control.counts().issuers.general.issued]).toEqual([0, 2])
})

test('init has a happy path in the sandbox: the printed module passes the doctor, and no finding is left', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'init-'))
  const home = mkdtempSync(fileURLToPath(new URL('applications/init-', import.meta.url)))
  const ca = join(folder, 'ca.pem')
  const issuer = { metadata: true }
  const sandbox = await startSandbox({ caFile: ca, issuers: { general: issuer, weblink: issuer } })
  onTestFinished(async () => {
    for (const each of [folder, home]) rmSync(each, { recursive: true })
    await sandbox.close()
  })
  const env = { NODE_EXTRA_CA_CERTS: ca }
  for (const [name, url, trusted, credentials] of [
    ['general', sandbox.apiUrl, sandbox.authUrl, sandbox.credentials.general],
    ['weblink', sandbox.weblinkUrl, sandbox.weblinkAuthUrl, sandbox.credentials.weblink],
  ] as const) {
    const file = join(home, `${name}.ts`)
    const options = ['--issuer', trusted, '--name', name, '--write', file]
    const { status, stderr } = await tokenlane(['init', url, ...options], env)
    expect([status, stderr]).toEqual([
      0,
      expect.stringContaining(`and names this authorization server: ${trusted}`),
    ])
    const filled = {
      ...env,
      [`${name.toUpperCase()}_CLIENT_ID`]: credentials.clientId,
      [`${name.toUpperCase()}_CLIENT_SECRET`]: credentials.clientSecret,
    }
    const looked = await tokenlane(
      ['doctor', '--module', file, '--url', `${url}records`, '--json'],
      filled,
      home,
    )
    const { ok, findings } = JSON.parse(looked.stdout) as { ok: boolean; findings: { id: string }[] }
    expect([ok, findings.map(({ id }) => id)]).toEqual([true, ['authority-private']])
  }
  const { ok, findings } = sandbox.control.verdict()
  expect([ok, findings.map(({ rule, severity }) => `${severity} ${rule}`)]).toEqual([
    true,
    ['note missing-token'],
  ])
})

test('with a token endpoint alone, the method is that which oauthIssuer has by default', async () => {
  const api = await tlsServer((_, response) =>
    response.writeHead(401, { 'www-authenticate': 'Bearer' }).end(),
  )
  const folder = mkdtempSync(join(tmpdir(), 'init-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const ca = join(folder, 'ca.pem')
  writeFileSync(ca, testAuthority)
  const { stdout } = await tokenlane(
    ['init', `${api}/`, '--token-endpoint', 'https://login.example.com/token', '--name', 'records'],
    { NODE_EXTRA_CA_CERTS: ca },
  )
  expect(stdout).toContain("clientAuthentication: 'client_secret_post'")
})
