import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import type { TLSSocket } from 'node:tls'
import type { TokenManager } from '@tokenlane/core'
import { expect, onTestFinished, test, vi } from 'vitest'
import { useTlsServer } from '../../../packages/core/test/authorization-servers/start.ts'
import { pkcs12 } from '../../../packages/core/test/pkcs12.ts'
import { pages } from './blocks.ts'

const block = pages
  .flatMap(({ blocks }) => blocks)
  .find((code) => code.includes("'content-type', 'application/json'"))

let seen: { type?: string | undefined; body?: unknown; subject?: string | undefined } = {}
const server = useTlsServer(
  (request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      const { subject } = (request.socket as TLSSocket).getPeerX509Certificate() ?? {}
      seen = { type: request.headers['content-type'], body: JSON.parse(body), subject }
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ access_token: 'token-1', expires_in: 3_600 }))
    })
  },
  { requestCert: true },
)

test("the guide's `fetch` sends a token request as JSON, with a client certificate", async () => {
  const folder = new URL('generated/json-token-request/', import.meta.url)
  mkdirSync(folder, { recursive: true })
  onTestFinished(() => {
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true })
  })
  const { cert, key } = await server.certificate('reports')
  const pfx = new URL('client.pfx', folder)
  writeFileSync(pfx, pkcs12([cert, key], 'open-sesame'))
  vi.stubEnv('CLIENT_PASSPHRASE', 'open-sesame')
  vi.stubEnv('GENERAL_CLIENT_ID', 'client-1')
  vi.stubEnv('GENERAL_CLIENT_SECRET', 'secret-1')
  const file = new URL('tokens.ts', folder)
  writeFileSync(
    file,
    (block ?? '')
      .replace('/run/secrets/client.pfx', pfx.pathname)
      .replace('https://auth.example.com', server.url),
  )
  const { tokens } = (await import(file.href)) as { tokens: TokenManager }
  await expect(tokens.getToken('partner')).resolves.toMatchObject({ value: 'token-1' })
  await tokens.close()
  expect(seen).toEqual({
    type: 'application/json',
    body: { grant_type: 'client_credentials', client_id: 'client-1', client_secret: 'secret-1' },
    subject: 'CN=reports',
  })
})
