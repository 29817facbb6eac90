import { printable } from '../foreign-text.ts'
import { causesOf } from './causes.ts'

/**
 * Returns what the runtime says where it does not permit what was tried, `undefined` for any other error: Deno without the
 * flag for it, Node with `--permission`. It names the flag, and no more than a host or a path.
 */
export function permissionFault(error: unknown): string | undefined {
  for (const { name, code, message } of causesOf(error)) {
    const isDenied = name === 'NotCapable' || name === 'PermissionDenied' || code === 'ERR_ACCESS_DENIED'
    if (isDenied && typeof message === 'string' && message.includes('--allow-')) return printable(message)
  }
  return undefined
}
