import { longestTimer } from '@tokenlane/core/fleet'

/** @throws Error if there is no answer in so many milliseconds; what comes later is nobody's. */
export async function inTime<T>(answering: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    return await Promise.race([
      answering,
      new Promise<never>((_, reject) => {
        const late = (): void => reject(new Error(`no answer in ${ms} ms`))
        // a process that stood still finds its timer over before it reads the answer that lies there
        timer = setTimeout(() => setImmediate(() => setImmediate(late)), Math.min(ms, longestTimer))
      }),
    ])
  } finally {
    clearTimeout(timer)
  }
}

/** What an operator may see of a failure: no addresses, no commands. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { code } = error as { code?: unknown }
  if (typeof code === 'string') return code
  if (/^(?:no answer in|not an answer)/.test(error.message)) return error.message
  // Redis begins with a word in capitals: OOM, READONLY, LOADING
  return /^[A-Z]+\b/.exec(error.message)?.[0] ?? error.name
}
