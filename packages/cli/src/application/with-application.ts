import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { isTool } from '@tokenlane/core/adapter'

import { CannotLook, exitStatus } from '../exit-status.ts'
import { tellFailure } from '../print.ts'
import type { Application, RefusedApplication, Source } from './application.ts'
import { loadApplication } from './load-application.ts'
import { useTokenCache } from './token-cache.ts'
import { whatFailed } from './what-failed.ts'

/**
 * Loads the application, passes it to `use`, and closes its token manager.
 *
 * @throws CannotLook if the application is not found, cannot be loaded, or fails meanwhile outside of every `await`.
 */
export async function withApplication<T>(
  source: Source,
  use: (application: Application | RefusedApplication) => Promise<T>,
): Promise<T> {
  const { authUrl, apiUrl, weblinkAuthUrl, weblinkUrl } = source
  const namesUrl = [authUrl, apiUrl, weblinkAuthUrl, weblinkUrl].some((url) => url !== undefined)
  const module = source.module ?? (namesUrl ? undefined : findModule(process.cwd()))
  return guarded(module ?? 'environment variables', async () => {
    const tool = globalThis as { [isTool]?: true }
    tool[isTool] = true
    const endCache = source.cache && useTokenCache()
    try {
      const application = await loadApplication({ ...source, module })
      try {
        return await use(application)
      } finally {
        if ('tokens' in application) await application.tokens.close()
      }
    } finally {
      endCache?.()
      delete tool[isTool]
    }
  })
}

/**
 * As `withApplication`, for commands that need the token manager.
 *
 * @throws CannotLook also with the errors of all options that `createTokenManager` refused.
 */
export async function withManager<T>(
  source: Source,
  use: (application: Application) => Promise<T>,
): Promise<T> {
  return withApplication(source, async (application) => {
    if (!('refused' in application)) return use(application)
    if (application.redis) throw new CannotLook(application.redis.message)
    const messages = application.refused.map(({ message }) => message)
    throw new CannotLook([...messages, 'Run `tokenlane doctor` to find out why'].join('\n'))
  })
}

/** Where applications keep the module that exports their token manager, in this order. */
const usualPlaces: readonly string[] = ['src', 'lib', 'app', '.', 'dist'].flatMap((folder) =>
  ['ts', 'mts', 'js', 'mjs', 'cjs'].map((ending) => join(folder, `tokens.${ending}`)),
)

/** Returns the path of the application's module, relative to `folder`; `undefined` if it is not in a usual place. */
function findModule(folder: string): string | undefined {
  return usualPlaces.find((path) => existsSync(join(folder, path)))
}

/**
 * Runs `act`, in which the code of the application runs, too.
 *
 * @param from where the application comes from.
 * @throws CannotLook if the application fails outside of every `await`. If it ends the process, the exit status says
 * that the command could not look.
 */
async function guarded<T>(from: string, act: () => Promise<T>): Promise<T> {
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
