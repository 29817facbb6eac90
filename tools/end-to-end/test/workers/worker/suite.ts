// A worker that plays one scenario of the conformance suite in each request.
import type { Asked } from '../suite/player.ts'

async function played(request: Request): Promise<Response> {
  const asked = (await request.json()) as Asked
  // what vitest's `expect` looks for, where no vitest runs
  Object.assign(globalThis, { __vitest_worker__: { filepath: 'worker', config: { fakeTimers: {} } } })
  // not before: vitest sets timers when it is loaded
  const { play } = await import('../suite/scenarios.ts')
  try {
    await play(asked)
    return Response.json({})
  } catch (error) {
    const { code, stack } = (error ?? {}) as { readonly code?: unknown; readonly stack?: unknown }
    return Response.json({ code, error: String(stack ?? error) })
  }
}

export default { fetch: played }
