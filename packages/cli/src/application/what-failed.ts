import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'

import { printable } from '@tokenlane/core/adapter'

import { failureCode } from '../failure-code.ts'

/**
 * Returns name, code and message of an error of the application's module, and file and line, relative to the current folder.
 * The message is the first line alone, without what may be a credential.
 */
export function whatFailed(error: unknown): string {
  const { name, message } = (error ?? {}) as { readonly name?: unknown; readonly message?: unknown }
  const code = failureCode(error)
  const [missing] =
    /^Cannot find (?:package|module) '[^']+'(?: imported from (?!\S*load-application\.[jt]s$)\S+$)?/.exec(
      String(message),
    ) ?? []
  const what = [name, code === name ? '' : code].filter(Boolean).join(' ')
  const text = missing ?? (typeof message === 'string' ? withoutCredentials(message) : '')
  const place = missing === undefined ? placeOf(error) : undefined
  return printable(`${what}${text && `: ${text}`}${place === undefined ? '' : ` (${place})`}`, 1_000)
}

/**
 * Returns the first line of a message without what may be a credential: what JSON.parse quotes of a file, the user of a URL,
 * values of variables that are named like secrets, and long words with digits, as keys and tokens are.
 */
function withoutCredentials(message: string): string {
  const [line = ''] = message
    .replace(/(?:, )?(?:\.{3})?".*"(?:\.{3})? is not valid JSON/s, ' is not valid JSON')
    .split('\n', 1)
  const secrets = Object.entries(process.env)
    .filter(([name]) => /SECRET|PASSW|TOKEN|KEY|CREDENTIAL|ASSERTION/i.test(name))
    .flatMap(([name, value = '']) => value.split(/\s+/).map((part) => [name, part] as const))
    .filter(([, part]) => part.length > 5)
  return secrets
    .reduce((text, [name, part]) => text.replaceAll(part, `[${name}]`), line)
    .replaceAll(/\/\/\S*@/g, '//…@')
    .replaceAll(/(?=[\w+=-]*\d)[\w+=-]{24,}/g, '…')
    .trim()
}

/** Returns the file and line that a stack names first, outside of Node and of packages. */
function placeOf(error: unknown): string | undefined {
  const { stack, message } = (error ?? {}) as { readonly stack?: unknown; readonly message?: unknown }
  if (typeof stack !== 'string' || typeof message !== 'string') return undefined
  // for syntax that it does not know, Node puts file and line in front
  const ahead = /^(\/\S+|file:\S+):(\d+)\n/.exec(stack)
  // the message may hold a line that looks like one of the stack
  const frames = stack.slice(stack.indexOf(message) + message.length).split('\n')
  const frame = frames.find(
    (line) => /^ {4}at /.test(line) && !/node:|node_modules|\(<anonymous>\)$/.test(line),
  )
  const [, file, line] = ahead ?? /(file:\/\/[^)]+|\/[^)]+):(\d+):\d+\)?$/.exec(frame ?? '') ?? []
  if (file === undefined) return undefined
  return `${relative(process.cwd(), file.startsWith('file:') ? fileURLToPath(file) : file)}:${line}`
}
