/** Returns the code of a failure, such as ECONNREFUSED or NOPERM, else the error's name: both are safe to print. */
export function failureCode(error: unknown): string {
  for (let inner = error; typeof inner === 'object' && inner !== null;) {
    const { code, cause, errors } = inner as { code?: unknown; cause?: unknown; errors?: readonly unknown[] }
    if (typeof code === 'string') return code
    inner = cause ?? errors?.[0]
  }
  if (!(error instanceof Error)) return 'unknown'
  // an error message of Redis begins with its code in capitals
  return /^[A-Z]{2,}\b/.exec(error.message)?.[0] ?? error.name
}
