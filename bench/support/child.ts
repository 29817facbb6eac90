import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'

/** Starts a file of `children/` in a process of its own and tells it what to do. */
export function startChild(file: string, order: unknown): ChildProcess {
  const child = fork(new URL(`../children/${file}`, import.meta.url), { execArgv: ['--expose-gc'] })
  child.send(order as object)
  return child
}

/** What this process, a child, is told to do. */
export async function orderGiven<Order>(): Promise<Order> {
  const [order] = await once(process, 'message')
  return order as Order
}

/** The next message of a child. */
export async function tellOf<T>(child: ChildProcess): Promise<T> {
  const gone = new AbortController()
  const { signal } = gone
  try {
    const [message] = await Promise.race([
      once(child, 'message', { signal }),
      once(child, 'exit', { signal }).then(([code]) => {
        throw new Error(`Cannot measure: a child process ended with code ${code}`)
      }),
    ])
    return message as T
  } finally {
    gone.abort()
  }
}
