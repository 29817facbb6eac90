import { asyncContext, type AsyncContext } from '../runtime/builtin-module.ts'

/** The hop of a redirect that has left its API. What opens a connection for it keeps its context after it has ended. */
interface Hop {
  isUnderWay: boolean
}

/** One for every copy of this package, since any of them may be beneath any other. */
const place: unique symbol = Symbol.for('tokenlane.bareHop') as never
const holder = globalThis as { [place]?: AsyncContext<Hop> }

/**
 * Sends the hop of a redirect that leaves its API. Until its response is there, no request that it leads to gets a token
 * from any manager: the server that redirects would choose what an authenticated request asks for.
 */
export async function sendBare<T>(send: () => Promise<T>): Promise<T> {
  const hop = { isUnderWay: true }
  const context = (holder[place] ??= asyncContext<Hop>() ?? synchronousContext<Hop>())
  try {
    return await context.run(hop, send)
  } finally {
    hop.isUnderWay = false
  }
}

/** Whether the current request is such a hop or was caused by one. */
export function isBareHop(): boolean {
  return holder[place]?.getStore()?.isUnderWay === true
}

/** For runtimes without another one: a `fetch` directly beneath is called at once. */
function synchronousContext<T>(): AsyncContext<T> {
  let current: T | undefined
  return {
    run(value, work) {
      const before = current
      current = value
      try {
        return work()
      } finally {
        current = before
      }
    },
    getStore: () => current,
  }
}
