import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'

import { printable } from '@tokenlane/core/adapter'

import { failureCode } from '../failure-code.ts'

/**
 * Returns name and code of an error of the application's module, and file and line, relative to the current folder. Its
 * message is left out: it may quote a file that the module read.
 */
export function whatFailed(error: unknown): string {
  const { name, message } = (error ?? {}) as { readonly name?: unknown; readonly message?: unknown }
  const code = failureCode(error)
  const [missing] =
    /^Cannot find (?:package|module) '[^']+'(?: imported from (?!\S*load-application\.[jt]s$)\S+$)?/.exec(
      String(message),
    ) ?? []
  // the message of Node alone is known to hold no secret
  const syntax = code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX' ? String(message) : undefined
  const what = [name, code === name ? '' : code, missing ?? syntax].filter(Boolean).join(' ')
  const place = missing === undefined ? placeOf(error) : undefined
  return printable(place === undefined ? what : `${what} (${place})`, 1_000)
}

/** Returns the file and line that a stack names first, outside of Node and of packages. */
function placeOf(error: unknown): string | undefined {
  const { stack, message } = (error ?? {}) as { readonly stack?: unknown; readonly message?: unknown }
  if (typeof stack !== 'string' || typeof message !== 'string') return undefined
  // for syntax that it does not know, Node puts file and line in front
  const ahead = /^(\/\S+|file:\S+):(\d+)\n/.exec(stack)
  // the message may hold a line that looks like one of the stack
  const frames = stack.slice(stack.indexOf(message) + message.length).split('\n')
  const frame = frames.find((line) => /^ {4}at /.test(line) && !/node:|node_modules/.test(line))
  const [, file, line] = ahead ?? /(file:\/\/[^)]+|\/[^)]+):(\d+):\d+\)?$/.exec(frame ?? '') ?? []
  if (file === undefined) return undefined
  return `${relative(process.cwd(), file.startsWith('file:') ? fileURLToPath(file) : file)}:${line}`
}
