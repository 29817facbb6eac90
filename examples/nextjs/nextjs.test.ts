import tls from 'node:tls'

import { startSandbox } from '@tokenlane/sandbox'
import { expect, onTestFinished, test, vi } from 'vitest'

test('modules that are loaded again share one manager, and a build loads them without secrets', async () => {
  const { GET: ofBuild } = await import('./app/records/route.ts')
  expect(ofBuild).toBeTypeOf('function')

  await using sandbox = await startSandbox()
  tls.setDefaultCACertificates([...tls.getCACertificates(), sandbox.ca])
  vi.stubEnv('AUTH_URL', sandbox.authUrl)
  vi.stubEnv('API_URL', sandbox.apiUrl)
  vi.stubEnv('GENERAL_CLIENT_ID', sandbox.credentials.general.clientId)
  vi.stubEnv('GENERAL_CLIENT_SECRET', sandbox.credentials.general.clientSecret)
  vi.stubEnv('NEXT_RUNTIME', 'nodejs')
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })

  const { register } = await import('./instrumentation.ts')
  await register()
  for (const route of ['records', 'edge']) {
    vi.resetModules()
    const { GET } = (await import(`./app/${route}/route.ts`)) as { GET(): Promise<Response> }
    expect((await GET()).status).toBe(200)
  }
  expect(sandbox.control.counts().issuers.general.issued).toBe(1)
})
