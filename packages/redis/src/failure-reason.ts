/** What ioredis says in plain errors, by the code of what `redis` says instead. */
const saidByIoRedis: Readonly<Record<string, string>> = {
  'Connection is closed.': 'CLIENT_CLOSED_ERROR',
  'Command timed out': 'COMMAND_TIMEOUT_ERROR',
  "Stream isn't writeable and enableOfflineQueue options is false": 'CLIENT_OFFLINE_ERROR',
}

/** Returns a failure's reason for operators, without addresses and commands. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { code } = error as { code?: unknown }
  if (typeof code === 'string') return code
  if (/^(?:no response in|not a response)/.test(error.message)) return error.message
  // Redis begins with a word in capitals: OOM, READONLY, LOADING
  const [word] = /^[A-Z]+\b/.exec(error.message) ?? []
  return word ?? saidByIoRedis[error.message] ?? codeOf(error)
}

/** Returns `CLIENT_CLOSED_ERROR` for a `ClientClosedError`: the clients' own errors differ by their class alone. */
function codeOf({ name, constructor: { name: type } }: Error): string {
  return /.Error$/.test(type) ? type.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase() : name
}
