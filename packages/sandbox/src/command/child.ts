import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'

const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const
/** npm passes on the signal of a terminal, which has sent it already: both come within so many milliseconds. */
const together = 200

/** Returns the exit status of a process that a signal ends, as a shell gives it. */
export function statusOfSignal(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal]
}

/** Listens for signals that are to stop this process; the first one is not told again. Returns what ends that. */
export function onStopSignals(act: (signal: NodeJS.Signals, isFirst: boolean) => void): () => void {
  let first: { readonly signal: NodeJS.Signals; readonly at: number } | undefined
  const listener = (signal: NodeJS.Signals): void => {
    const at = performance.now()
    if (first === undefined) {
      first = { signal, at }
      act(signal, true)
    } else if (signal !== first.signal || at - first.at > together) act(signal, false)
  }
  for (const name of stopSignals) process.on(name, listener)
  return () => {
    for (const name of stopSignals) process.off(name, listener)
  }
}

/** Whether this process can give a child a group of its own: without a terminal, whose Ctrl-C would not reach it. */
const canHaveGroup: boolean = process.platform !== 'win32' && !process.stdin.isTTY && !process.stdout.isTTY

/**
 * Waits until a child has ended, and returns its exit status as a shell does.
 *
 * The child gets every signal that is to stop this process. It is killed at the second one, `grace` milliseconds after the
 * first one, and when this process ends; all that it has started with it, if it has a group of its own.
 *
 * @throws the error of a child that could not be started.
 */
export async function endOf(
  child: ChildProcess,
  { grace, hasGroup }: { readonly grace: number; readonly hasGroup: boolean },
): Promise<number> {
  const kill = (signal: NodeJS.Signals): void => {
    try {
      if (hasGroup && child.pid !== undefined) process.kill(-child.pid, signal)
      else child.kill(signal)
    } catch {
      // all of it has ended
    }
  }
  const killAll = (): void => kill('SIGKILL')
  let timer: NodeJS.Timeout | undefined
  const endListening = onStopSignals((signal, isFirst) => {
    if (!isFirst) return killAll()
    timer = setTimeout(killAll, grace)
    // a terminal sends its own to the child, too
    const isSent = !canHaveGroup && (signal === 'SIGINT' || signal === 'SIGQUIT')
    if (!isSent) kill(signal)
  })
  process.once('exit', killAll)
  try {
    const [status, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
    // what the child left behind, too
    if (timer !== undefined && hasGroup) killAll()
    return signal === null ? (status ?? 1) : statusOfSignal(signal)
  } finally {
    clearTimeout(timer)
    endListening()
    process.off('exit', killAll)
  }
}

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
  try {
    const child = spawn(command, args, {
      stdio: ['inherit', output === 'stdout' ? 'inherit' : 2, 'inherit'],
      env: { ...process.env, ...variables },
      detached: canHaveGroup,
    })
    return await endOf(child, { grace, hasGroup: canHaveGroup })
  } catch (error) {
    say(`${command} could not be started: ${(error as NodeJS.ErrnoException).code}`)
    return notStarted
  }
}
