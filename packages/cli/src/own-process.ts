import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'

import { CannotLook, WrongUsage } from './exit-status.ts'

/** Variables of the file of `--env-file` that do not count as they stand there. */
export interface EnvFileFacts {
  /** Those that Node ignores in the file of its own `--env-file`, and that come from this file alone. */
  readonly early: readonly string[]
  /** Those that were set to another value before. */
  readonly overridden: readonly string[]
  /** Those whose values end before a `#`. */
  readonly cut: readonly string[]
}

/** What the process that the user started tells the one in which the command runs. */
interface HandedOver {
  /** The file descriptor that gets the result, where standard output is not for the application. */
  readonly output?: number
  /** Ends when the first process has ended. */
  readonly parent: number
  readonly envFile?: EnvFileFacts
}

const variable = 'TOKENLANE_HANDED_OVER'

/** What the first process has handed over; `undefined` in that one. */
export const handedOver: HandedOver | undefined = takeOver()

function takeOver(): HandedOver | undefined {
  const text = process.env[variable]
  // a command that the application starts is a first one again
  delete process.env[variable]
  if (text === undefined) return undefined
  const handed = JSON.parse(text) as HandedOver
  // a first process that was killed passes no signal on
  new Socket({ fd: handed.parent, writable: false })
    .on('error', () => {})
    .on('close', () => process.removeAllListeners('exit').exit(1))
    .resume()
    .unref()
  return handed
}

/** The variables that Node reads before the file of its own `--env-file`, and so ignores in it. */
const readEarly = ['NODE_EXTRA_CA_CERTS', 'NODE_USE_ENV_PROXY']

/** How long the command may take to end after a signal, in milliseconds. */
const grace = 2_000

/**
 * Runs the command again in a process of its own, and returns its exit status.
 *
 * There the variables of `envFile` are set when Node starts, which reads some only then: `NODE_EXTRA_CA_CERTS`,
 * `NODE_OPTIONS`, `NODE_USE_ENV_PROXY`. Variables that are already set override the file, as with `node --env-file`.
 *
 * With `keepsOutput`, whatever the application writes to standard output goes to standard error: by `console`, by a logger,
 * or to file descriptor 1. The result has a descriptor of its own.
 *
 * @throws WrongUsage if the file cannot be read; CannotLook if no process can be started.
 */
export async function runInOwnProcess(
  argv: readonly string[],
  { envFile, keepsOutput }: { readonly envFile: string | undefined; readonly keepsOutput: boolean },
): Promise<number> {
  const main = fileURLToPath(
    new URL(import.meta.url.endsWith('.ts') ? './main.ts' : './main.js', import.meta.url),
  )
  const { variables, facts } = envFile === undefined ? {} : readEnvFile(envFile)
  const handed: HandedOver = {
    parent: 3,
    ...(keepsOutput && { output: 4 }),
    ...(facts && { envFile: facts }),
  }
  const { endOf } = await import('@tokenlane/sandbox/command')
  try {
    const child = spawn(process.execPath, [...process.execArgv, main, ...argv], {
      stdio: ['inherit', keepsOutput ? 2 : 'inherit', 'inherit', 'pipe', keepsOutput ? 'pipe' : 'ignore'],
      env: { ...variables, ...process.env, [variable]: JSON.stringify(handed) },
    })
    const result = child.stdio[4] as Readable | null
    const written = result === null ? undefined : once(result, 'end')
    result?.pipe(process.stdout, { end: false })
    const status = await endOf(child, { grace, hasGroup: false })
    await written
    return status
  } catch (error) {
    // the permissions of Node, or a limit of the system
    throw new CannotLook(`Cannot start a process for the command: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

function readEnvFile(file: string): { variables: NodeJS.Dict<string>; facts: EnvFileFacts } {
  const { variables, cut } = variablesIn(file)
  const overridden = Object.keys(variables).filter(
    (name) => (process.env[name] ?? variables[name]) !== variables[name],
  )
  const early = readEarly.filter((name) => variables[name] && !(name in process.env))
  return { variables, facts: { early, overridden, cut } }
}

/** A variable whose value has a # in it, which begins a comment where there are no quotes. */
const cutValue = /^[ \t]*(?:export[ \t]+)?(\w+)[ \t]*=[ \t]*[^\s'"`#][^\n#]*(?<=\S)#/gm

function variablesIn(file: string): { variables: NodeJS.Dict<string>; cut: string[] } {
  try {
    const text = readFileSync(file, 'utf8')
    // else Node refuses the variables, and quotes them
    if (text.includes('\0'))
      throw new WrongUsage(`Cannot read --env-file ${file}: save it as UTF-8, with a line for each variable`)
    return { variables: parseEnv(text), cut: Array.from(text.matchAll(cutValue), ([, name = '']) => name) }
  } catch (error) {
    if (error instanceof WrongUsage) throw error
    const { code } = error as NodeJS.ErrnoException
    throw new WrongUsage(`Cannot read --env-file ${file}: ${code ?? 'not a file of variables'}`)
  }
}
