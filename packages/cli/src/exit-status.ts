import { printable } from '@tokenlane/core/adapter'

/** The exit statuses of the command. They are stable across releases. */
export const exitStatus = {
  fine: 0,
  /** There are errors or warnings, or a token or a call failed. */
  findings: 1,
  usage: 2,
  /** The command found no application or could not load it, or the judged program made no calls. */
  couldNotLook: 3,
} as const

/** Thrown if the application is not found or cannot be loaded. The message says why and holds no secret. */
export class CannotLook extends Error {}

/** Thrown for an argument that proves wrong after the command line was parsed. The message names it. */
export class WrongUsage extends Error {}

/** @throws WrongUsage if `url` is not an absolute HTTP or HTTPS URL. */
export function mustBeAbsolute(url: string): void {
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new WrongUsage('Pass an absolute URL, such as https://api.example.com/records')
}

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
