import { printable } from '../foreign-text.ts'

/**
 * Returns what the runtime says where it does not permit what was tried, `undefined` for any other error: Deno without the
 * flag for it, Node with `--permission`. It names the flag, and no more than a host or a path.
 */
export function permissionFault(error: unknown): string | undefined {
  let inner = error
  for (let depth = 0; depth < 4 && typeof inner === 'object' && inner !== null; depth += 1) {
    const { name, code, message, cause } = inner as Readonly<Record<string, unknown>>
    const isDenied = name === 'NotCapable' || name === 'PermissionDenied' || code === 'ERR_ACCESS_DENIED'
    if (isDenied && typeof message === 'string' && message.includes('--allow-')) return printable(message)
    inner = cause
  }
  return undefined
}
