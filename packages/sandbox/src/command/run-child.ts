import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'

/** Exit status for a command that could not be started, as in shells. */
const notStarted = 127

const stay = (): void => {}

/** Runs a command with these variables until it ends, and returns its exit status as a shell does. */
export async function runChild(
  [command = '', ...args]: readonly string[],
  variables: Record<string, string>,
  say: (text: string) => void,
): Promise<number> {
  const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...variables } })
  // the terminal sends Ctrl-C to the command too; the sandbox stays up until the command has ended
  const pass = (signal: NodeJS.Signals): void => void child.kill(signal)
  process.on('SIGINT', stay).on('SIGTERM', pass).on('SIGHUP', pass)
  try {
    const [status, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
    return signal === null ? (status ?? 1) : 128 + constants.signals[signal]
  } catch (error) {
    say(`${command} could not be started: ${(error as NodeJS.ErrnoException).code}`)
    return notStarted
  } finally {
    process.off('SIGINT', stay).off('SIGTERM', pass).off('SIGHUP', pass)
  }
}
