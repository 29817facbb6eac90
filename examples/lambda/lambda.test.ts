import { expect, onTestFinished, test, vi } from 'vitest'
import { openByEnvironment } from '@tokenlane/testing/example-programs'

const handlers = {
  fetch: () => import('./handler.ts'),
  undici: () => import('./undici-handler.ts'),
}

test.each(['fetch', 'undici'] as const)(
  'with %s, an instance that was frozen for longer than its token lives sends no dead token',
  async (client) => {
    vi.resetModules()
    const sandbox = await openByEnvironment()
    const log = vi.spyOn(console, 'log').mockReturnValue()
    const { handler } = await handlers[client]()
    const event = { pathParameters: { id: 'INV-0000001' } }

    for (let calls = 0; calls < 3; calls += 1) expect(await handler(event)).toMatchObject({ statusCode: 200 })
    expect(sandbox.control.counts().issuers.general.issued).toBe(1)

    // the wall clock goes on while an instance is frozen, the monotonic one may stand still
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    vi.setSystemTime(Date.now() + 2 * 60 * 60 * 1_000)
    expect(await handler(event)).toMatchObject({ statusCode: 200 })
    expect(sandbox.control.counts()).toMatchObject({
      issuers: { general: { issued: 2 } },
      apis: { general: { calls: 4, rejected: 0 } },
    })

    // and one whose secret is refused says so
    vi.setSystemTime(Date.now() + 2 * 60 * 60 * 1_000)
    sandbox.control.rotateSecret('general')
    expect(await handler(event)).toEqual({ statusCode: 503, body: '{"code":"TOKEN_REQUEST_REFUSED"}' })

    const told = log.mock.calls.map(([line]) => JSON.parse(String(line)) as { type: string; reason?: string })
    const ofTokens = told.filter(({ type }) => type !== 'call.finished')
    expect(ofTokens.map(({ type, reason }) => (type === 'token.renewed' ? reason : type))).toEqual([
      'startup',
      'expired',
      'renewal.failed',
    ])
  },
)
