import { execFile } from 'node:child_process'

/** What became of a command. */
export interface Outcome {
  readonly ok: boolean
  /** What it printed, or why it could not be started. */
  readonly output: string
}

/** Runs a command quietly; failing is an outcome. */
export function run(
  command: string,
  args: readonly string[],
  { cwd, env = process.env }: { cwd: string; env?: NodeJS.ProcessEnv },
): Promise<Outcome> {
  // npm and pnpm are .cmd files on Windows, which only a shell starts
  const shell = process.platform === 'win32' && !command.endsWith('.exe')
  return new Promise((resolve) => {
    execFile(command, args, { cwd, env, shell, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      const output = `${stdout}${stderr}`.trim()
      resolve({ ok: error === null, output: output || (error?.message ?? '') })
    })
  })
}

/**
 * Runs a command that must work.
 *
 * @returns what it printed.
 * @throws Error with `what` and what it printed, if it fails.
 */
export async function must(
  what: string,
  ...[command, args, options]: Parameters<typeof run>
): Promise<string> {
  const { ok, output } = await run(command, args, options)
  if (!ok) throw new Error(`${what} failed\n${output}`)
  return output
}
