import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'

const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const

/** Returns the exit status of a process that a signal ends, as a shell gives it. */
export function statusOfSignal(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal]
}

/** Whether this process can give a child a group of its own: without a terminal, whose Ctrl-C would not reach it. */
export const canHaveGroup: boolean =
  process.platform !== 'win32' && !process.stdin.isTTY && !process.stdout.isTTY

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
  const stop = (signal: NodeJS.Signals): void => {
    if (timer !== undefined) return killAll()
    timer = setTimeout(killAll, grace)
    // a terminal sends its own to the child, too
    const isSent = !canHaveGroup && (signal === 'SIGINT' || signal === 'SIGQUIT')
    if (!isSent) kill(signal)
  }
  for (const name of stopSignals) process.on(name, stop)
  process.once('exit', killAll)
  try {
    const [status, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
    // what the child left behind, too
    if (timer !== undefined && hasGroup) killAll()
    return signal === null ? (status ?? 1) : statusOfSignal(signal)
  } finally {
    clearTimeout(timer)
    for (const name of stopSignals) process.off(name, stop)
    process.off('exit', killAll)
  }
}
