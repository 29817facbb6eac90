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
  expect(asked.stderr).toContain(`confirm it: --issuer ${sandbox.authUrl}/`)

  const trusted = ['--issuer', sandbox.authUrl, '--name', 'records', '--no-resource']
  const wider = await tokenlane(['init', `${api}/records`, ...trusted], env)
  expect([wider.status, wider.stdout]).toEqual([3, ''])
  expect(wider.stderr).toContain(`confirm it: --base-url ${api}/`)

  const options = [...trusted, '--base-url', `${api}/`]
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
