// A worker that plays one scenario of the conformance suite in each request.
import type { Surroundings } from '../workerd.ts'

export default {
  async fetch(request: Request, { SANDBOX }: { SANDBOX: Surroundings }): Promise<Response> {
    const { index, service } = (await request.json()) as { index: number; service: string }
    // what vitest's `expect` looks for, where no vitest runs
    Object.assign(globalThis, { __vitest_worker__: { filepath: 'worker', config: { fakeTimers: {} } } })
    // not before: vitest sets timers when it is loaded
    const { play } = await import('../suite/scenarios.ts')
    try {
      await play(index, service, SANDBOX)
      return Response.json({})
    } catch (error) {
      return Response.json({ error: String((error as Error | undefined)?.stack ?? error) })
    }
  },
}
