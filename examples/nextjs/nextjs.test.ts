import { openByEnvironment } from '@tokenlane/testing/example-programs'
import { expect, test, vi } from 'vitest'

test('modules that are loaded again share one manager, and a build loads them without secrets', async () => {
  const { GET: ofBuild } = await import('./app/records/route.ts')
  expect(ofBuild).toBeTypeOf('function')

  const sandbox = await openByEnvironment()
  vi.stubEnv('NEXT_RUNTIME', 'nodejs')

  const { register } = await import('./instrumentation.ts')
  await register()
  for (const route of ['records', 'edge']) {
    vi.resetModules()
    const { GET } = (await import(`./app/${route}/route.ts`)) as { GET(): Promise<Response> }
    expect((await GET()).status).toBe(200)
  }
  expect(sandbox.control.counts().issuers.general.issued).toBe(1)
})
