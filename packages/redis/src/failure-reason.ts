/** Returns a short reason of a failure for operators, without addresses and commands. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { code } = error as { code?: unknown }
  if (typeof code === 'string') return code
  if (/^(?:no response in|not a response)/.test(error.message)) return error.message
  // Redis begins with a word in capitals: OOM, READONLY, LOADING
  return /^[A-Z]+\b/.exec(error.message)?.[0] ?? error.name
}
