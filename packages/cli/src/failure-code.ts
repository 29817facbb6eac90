/** Returns what may be shown of a failure: its code, such as ECONNREFUSED or NOPERM, else its name. */
export function failureCode(error: unknown): string {
  for (let inner = error; typeof inner === 'object' && inner !== null;) {
    const { code, cause, errors } = inner as { code?: unknown; cause?: unknown; errors?: readonly unknown[] }
    if (typeof code === 'string') return code
    inner = cause ?? errors?.[0]
  }
  if (!(error instanceof Error)) return 'unknown'
  // Redis begins with a word in capitals
  return /^[A-Z]{2,}\b/.exec(error.message)?.[0] ?? error.name
}
