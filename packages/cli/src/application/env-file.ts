import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'

import { WrongUsage } from '../exit-status.ts'

/** The variable that names those of `early` which come from the file alone. */
export const earlyInFile = 'TOKENLANE_EARLY_IN_FILE'

/** The variable that says which of the file count otherwise than it looks, a line for each reason. */
export const notesOnFile = 'TOKENLANE_NOTES_ON_FILE'

/** The variables that Node reads before the file of its own `--env-file`, and so ignores in it. */
const early = ['NODE_EXTRA_CA_CERTS', 'NODE_USE_ENV_PROXY']

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
  const names = early.filter((name) => variables[name] && !(name in process.env)).join(' and ')
  const overridden = Object.keys(variables).filter(
    (name) => (process.env[name] ?? variables[name]) !== variables[name],
  )
  const notes = [
    ...(overridden.length > 0 ? [`not used, because set before: ${overridden.join(', ')}`] : []),
    ...(cut.length > 0 ? [`cut at a # without quotes: ${cut.join(', ')}`] : []),
  ]
  const child = spawn(process.execPath, [...process.execArgv, main, ...argv], {
    stdio: 'inherit',
    env: {
      ...variables,
      ...process.env,
      ...(names && { [earlyInFile]: names }),
      ...(notes.length > 0 && { [notesOnFile]: notes.join('\n') }),
    },
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
