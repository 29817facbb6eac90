import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'

/** Exit status for a command that could not be started, as in shells. */
const notStarted = 127

const statusOf = (signal: NodeJS.Signals): number => 128 + constants.signals[signal]

/**
 * Runs a command with these variables until it ends, and returns its exit status as a shell does. If `stop` has
 * aborted, it does not start the command, and returns the status for the signal that `stop` gives as its reason.
 */
export async function runChild(
  [command = '', ...args]: readonly string[],
  variables: Record<string, string>,
  say: (text: string) => void,
  stop: AbortSignal,
): Promise<number> {
  if (stop.aborted) return statusOf(stop.reason as NodeJS.Signals)
  const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...variables } })
  // the terminal sends Ctrl-C to the command too; the sandbox stays up until the command has ended
  const pass = (signal: NodeJS.Signals): void => void child.kill(signal)
  process.on('SIGTERM', pass).on('SIGHUP', pass)
  try {
    const [status, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
    return signal === null ? (status ?? 1) : statusOf(signal)
  } catch (error) {
    say(`${command} could not be started: ${(error as NodeJS.ErrnoException).code}`)
    return notStarted
  } finally {
    process.off('SIGTERM', pass).off('SIGHUP', pass)
  }
}
