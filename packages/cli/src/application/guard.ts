import { CannotLook, exitStatus } from '../exit-status.ts'
import { tellFailure } from '../tell-failure.ts'
import { whatFailed } from './what-failed.ts'

/**
 * Runs `act`, in which the code of the application runs, too.
 *
 * @param from where the application comes from.
 * @throws CannotLook if the application fails outside of every `await`. If it ends the process, the exit status says
 * that the command could not look.
 */
export async function guarded<T>(from: string, act: () => Promise<T>): Promise<T> {
  const crash = Promise.withResolvers<never>()
  const onError = (error: unknown): void => {
    // an application with a handler of its own goes on
    if (process.listenerCount('uncaughtException') > 1) return
    crash.reject(new CannotLook(`${from} crashed with an uncaught error: ${whatFailed(error)}`))
  }
  const onExit = (code: number): void => {
    tellFailure(`${from} called process.exit(${code}), so nothing was checked`, process.argv)
    process.exitCode = exitStatus.couldNotLook
  }
  process.on('uncaughtException', onError)
  process.on('exit', onExit)
  try {
    return await Promise.race([act(), crash.promise])
  } finally {
    process.off('uncaughtException', onError)
    process.off('exit', onExit)
  }
}
