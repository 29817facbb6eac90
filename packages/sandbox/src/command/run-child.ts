import { spawn } from 'node:child_process'

import { canHaveGroup, endOf, statusOfSignal } from './child-end.ts'

/** Exit status for a command that could not be started, as in shells. */
const notStarted = 127

/** How long a command may take to end after a signal, in milliseconds, as in Docker. */
const grace = 10_000

/**
 * Runs a command with these variables until it ends, and returns its exit status as a shell does. If `stop` has
 * aborted, it does not start the command, and returns the status for the signal that `stop` gives as its reason.
 *
 * @param output where its standard output goes: to that of this process, or to standard error.
 */
export async function runChild(
  [command = '', ...args]: readonly string[],
  variables: Record<string, string>,
  output: 'stdout' | 'stderr',
  say: (text: string) => void,
  stop: AbortSignal,
): Promise<number> {
  if (stop.aborted) return statusOfSignal(stop.reason as NodeJS.Signals)
  const child = spawn(command, args, {
    stdio: ['inherit', output === 'stdout' ? 'inherit' : 2, 'inherit'],
    env: { ...process.env, ...variables },
    detached: canHaveGroup,
  })
  try {
    return await endOf(child, { grace, hasGroup: canHaveGroup })
  } catch (error) {
    say(`${command} could not be started: ${(error as NodeJS.ErrnoException).code}`)
    return notStarted
  }
}
