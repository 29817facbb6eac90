import { parseArgs } from 'node:util'

import { handedOver, runInOwnProcess } from './own-process.ts'
import { CannotLook, exitStatus, WrongUsage } from './exit-status.ts'
import { columnsOf, hanging } from './hanging.ts'
import { tellFailure } from './print.ts'

/**
 * Runs the command `tokenlane` and returns its exit status: 0 if nothing is wrong, 1 if there are findings, 2 for invalid
 * usage, 3 if the application is not found or cannot be loaded, or if the judged program made no calls.
 *
 * @param argv its arguments, as in `process.argv.slice(2)`.
 */
export async function runTokenlane(argv: readonly string[]): Promise<number> {
  if (argv[0] === 'sandbox') {
    const { runSandboxCommand } = await import('@tokenlane/sandbox/command')
    return runSandboxCommand(argv.slice(1), 'tokenlane sandbox')
  }
  try {
    const [envFile, others] = withoutEnvFile(argv)
    // the application may write to standard output, which is for the result where a script reads it
    const keepsOutput = runApplication.has(argv[0]) && !process.stdout.isTTY
    if (handedOver === undefined && (envFile !== undefined || keepsOutput))
      return await runInOwnProcess(others, { envFile, keepsOutput })
    // not before: a process that only starts another one needs none of it
    const { runProgram } = await import('./program.ts')
    return await runProgram(argv)
  } catch (error) {
    if (!(error instanceof CannotLook || error instanceof WrongUsage)) throw error
    const cannotLook = error instanceof CannotLook
    tellFailure(error.message, argv, cannotLook ? wrapped(error.message) : error.message)
    return cannotLook ? exitStatus.couldNotLook : exitStatus.usage
  }
}

/** The commands that run code of the application. */
const runApplication = new Set<string | undefined>(['token', 'call', 'doctor'])

/** Returns a message in lines that a terminal shows whole: at most 80 columns. Elsewhere nothing is broken. */
function wrapped(message: string): string {
  const { isTTY, columns } = process.stderr
  const width = isTTY ? Math.min(80, columnsOf({ columns }, 80)) : Infinity
  return message
    .split('\n')
    .map((line) => hanging('', line, 0, width))
    .join('\n')
}

/** Returns the file of `--env-file` and the other arguments. The option may stand anywhere before `--`. */
function withoutEnvFile(argv: readonly string[]): [file: string | undefined, others: string[]] {
  const { tokens } = parseArgs({
    args: [...argv],
    options: { 'env-file': { type: 'string' } },
    strict: false,
    tokens: true,
  })
  const given = tokens.find((one) => one.kind === 'option' && one.name === 'env-file')
  if (given?.kind !== 'option') return [undefined, [...argv]]
  if (typeof given.value !== 'string') throw new WrongUsage('--env-file needs a file path')
  return [given.value, argv.toSpliced(given.index, given.inlineValue ? 1 : 2)]
}
