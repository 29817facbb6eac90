/** @throws Error if there is no answer in so many milliseconds; what comes later is nobody's. */
export async function inTime<T>(answering: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    return await Promise.race([
      answering,
      new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(`no answer in ${ms} ms`)), ms)
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
  const ownWords = /^(?:no answer in .*|not an answer .*)$/.exec(error.message)
  if (ownWords !== null) return error.message
  // Redis begins with a word in capitals: OOM, READONLY, LOADING
  return /^[A-Z]+\b/.exec(error.message)?.[0] ?? error.name
}
