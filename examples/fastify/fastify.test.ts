import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { startSandbox } from '@tokenlane/sandbox'

test(
  'the server answers through an expiry and a refused secret, and ends in order',
  { timeout: 60_000 },
  async () => {
    const sandbox = await startSandbox()
    onTestFinished(() => sandbox.close())
    const folder = mkdtempSync(join(tmpdir(), 'fastify-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const ca = join(folder, 'ca.pem')
    writeFileSync(ca, sandbox.ca)

    const { clientId, clientSecret } = sandbox.credentials.general
    const server = spawn(process.execPath, [fileURLToPath(new URL('main.ts', import.meta.url))], {
      env: {
        ...process.env,
        PORT: '0',
        AUTH_URL: sandbox.authUrl,
        API_URL: sandbox.apiUrl,
        GENERAL_CLIENT_ID: clientId,
        GENERAL_CLIENT_SECRET: clientSecret,
        NODE_EXTRA_CA_CERTS: ca,
      },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    onTestFinished(() => void server.kill('SIGKILL'))
    const [url] = (await once(createInterface(server.stdout), 'line')) as [string]

    const health = await fetch(new URL('/health', url))
    expect(await health.json()).toMatchObject({ issuers: { general: { token: 'live' } } })

    sandbox.control.expireTokens('general')
    const found = await fetch(new URL('/records/INV-0000001', url))
    expect(await found.json()).toMatchObject({ id: 'INV-0000001' })
    expect(sandbox.control.counts().issuers.general.issued).toBe(2)

    sandbox.control.expireTokens('general')
    sandbox.control.rotateSecret('general')
    const refused = await fetch(new URL('/records/INV-0000002', url))
    expect(refused.status).toBe(503)
    expect(await refused.json()).toEqual({ code: 'TOKEN_REQUEST_REFUSED' })

    server.kill('SIGTERM')
    expect(await once(server, 'exit')).toEqual([0, null])
  },
)
