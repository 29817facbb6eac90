import type { CommandName } from './options.ts'

export { endOf } from './child.ts'

/**
 * Runs the command `tokenlane-sandbox`. It ends at Ctrl-C, Ctrl-\\ or a termination signal, when the command that it runs
 * has ended, or when it writes to a pipe that is no longer read.
 *
 * A second signal ends the process at once; the files are removed then, too. The process is expected to end with the
 * returned status.
 *
 * @param argv - its arguments, as in `process.argv.slice(2)`.
 * @param name - what the user typed before them, for messages and help.
 * @returns the exit status.
 */
export async function runSandboxCommand(
  argv: readonly string[],
  name: CommandName = 'tokenlane-sandbox',
): Promise<number> {
  // `tokenlane` starts other processes with `endOf`, and needs none of it
  const { runCommand } = await import('./run-command.ts')
  return runCommand(argv, name)
}
