// A worker that plays one scenario of the conformance suite in each request.
import type { Asked } from '../suite/asked.ts'

/** The handler of a route, as Next.js has it. */
export async function POST(request: Request): Promise<Response> {
  const asked = (await request.json()) as Asked
  prepareForVitest()
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

const nanoseconds = (): bigint => BigInt(Math.round(performance.now() * 1e6))

/** Gives vitest's `expect` what it looks for, where no vitest runs. */
function prepareForVitest(): void {
  Object.assign(globalThis, { __vitest_worker__: { filepath: 'worker', config: { fakeTimers: {} } } })
  // Next.js has an `hrtime` without it
  if (globalThis.process?.hrtime?.bigint === undefined)
    Object.assign(globalThis.process ?? {}, { hrtime: { bigint: nanoseconds } })
}

export default { fetch: POST }
