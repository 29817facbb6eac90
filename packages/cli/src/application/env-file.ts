import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'

import { WrongUsage } from '../exit-status.ts'

/** Variables of the file of `--env-file` that do not count as they stand there. */
export interface EnvFileFacts {
  /** Those that Node ignores in the file of its own `--env-file`, and that come from this file alone. */
  readonly early: readonly string[]
  /** Those that were set to another value before. */
  readonly overridden: readonly string[]
  /** Those whose values end before a `#`. */
  readonly cut: readonly string[]
}

/** The variable by which the command that reads the file tells them to the one that it starts. */
const handedOver = 'TOKENLANE_ENV_FILE_FACTS'

/** Returns what is to be known of the file of `--env-file`; `undefined` without one. */
export function envFileFacts(): EnvFileFacts | undefined {
  const facts = process.env[handedOver]
  return facts === undefined ? undefined : (JSON.parse(facts) as EnvFileFacts)
}

/** The variables that Node reads before the file of its own `--env-file`, and so ignores in it. */
const readEarly = ['NODE_EXTRA_CA_CERTS', 'NODE_USE_ENV_PROXY']

/**
 * Runs the command again with the variables of a file, and returns its exit status.
 *
 * The command runs in a new process, since Node reads some variables only when it starts: `NODE_EXTRA_CA_CERTS`,
 * `NODE_OPTIONS`, `NODE_USE_ENV_PROXY`. Variables that are already set override the file, as with `node --env-file`.
 *
 * @throws WrongUsage if the file cannot be read.
 */
export async function runWithEnvFile(file: string, argv: readonly string[]): Promise<number> {
  const main = fileURLToPath(
    new URL(import.meta.url.endsWith('.ts') ? '../main.ts' : '../main.js', import.meta.url),
  )
  const { variables, cut } = variablesIn(file)
  const overridden = Object.keys(variables).filter(
    (name) => (process.env[name] ?? variables[name]) !== variables[name],
  )
  const early = readEarly.filter((name) => variables[name] && !(name in process.env))
  const facts: EnvFileFacts = { early, overridden, cut }
  const child = spawn(process.execPath, [...process.execArgv, main, ...argv], {
    stdio: 'inherit',
    env: { ...variables, ...process.env, [handedOver]: JSON.stringify(facts) },
  })
  const [status, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  return signal === null ? (status ?? 1) : 128 + constants.signals[signal]
}

/** A variable whose value has a # in it, which begins a comment where there are no quotes. */
const cutValue = /^[ \t]*(?:export[ \t]+)?(\w+)[ \t]*=[ \t]*[^\s'"`#][^\n#]*(?<=\S)#/gm

/** Returns the variables in a file, and which of them are cut. */
function variablesIn(file: string): { variables: NodeJS.Dict<string>; cut: string[] } {
  try {
    const text = readFileSync(file, 'utf8')
    return { variables: parseEnv(text), cut: Array.from(text.matchAll(cutValue), ([, name = '']) => name) }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new WrongUsage(`Cannot read --env-file ${file}: ${code ?? 'not a file of variables'}`)
  }
}
