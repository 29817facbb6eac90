import { printable } from '@tokenlane/core/adapter'

/** Returns the code of a failure, such as ECONNREFUSED or NOPERM, else the error's name: both are safe to print. */
export function failureCode(error: unknown): string {
  for (let inner = error; typeof inner === 'object' && inner !== null;) {
    const { code, cause, errors } = inner as { code?: unknown; cause?: unknown; errors?: readonly unknown[] }
    if (typeof code === 'string') return printable(code, 60)
    inner = cause ?? errors?.[0]
  }
  if (!(error instanceof Error)) return 'unknown'
  // of Redis alone it is known that a message begins with its code in capitals
  const isOfRedis = /Reply|SimpleError/.test(error.constructor.name)
  return (isOfRedis && /^[A-Z]{2,}\b/.exec(error.message)?.[0]) || printable(error.name, 60)
}

/** Returns the reason in an error message: the text between `Cannot …: ` and the link `(see …)`. */
export function reasonIn({ message }: { readonly message: string }): string {
  return message.replace(/^Cannot [a-z ]+: /, '').replace(/ \(see [^)]*\)$/, '')
}
