import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

import { isTokenlaneError, type TokenlaneError, type TokenManager } from '@tokenlane/core'
import { configurationOf, inspectionOf } from '@tokenlane/core/adapter'

import { CannotLook } from '../exit-status.ts'
import { guide } from '../guide.ts'
import { failureCode } from '../failure-code.ts'
import type { Application, RefusedApplication, Source } from './application.ts'
import { type Connections, connectionsText, isOfRedis, watchConnections } from './connections.ts'
import { fromEnvironment } from './from-environment.ts'
import { resolveTypeScript, typescriptHint } from './typescript.ts'
import { whatFailed } from './what-failed.ts'

/** How long the module of an application may take to load, in seconds. */
const usualLoadTimeout = 10

/**
 * Returns the application with its token manager, or with the errors of its options.
 *
 * The token manager comes from the module that `source` names. Without one it is created from the URLs and the
 * environment variables.
 *
 * @throws CannotLook if no token manager is found, or if the module fails for a reason other than its options, or has
 * not loaded in time.
 */
export async function loadApplication(source: Source): Promise<Application | RefusedApplication> {
  const { module: path, loadTimeout = usualLoadTimeout } = source
  const from = path ?? 'environment variables'
  const file = resolve(path ?? 'package.json')
  const { names, missingApis, createTokens } = fromEnvironment(source)
  const about =
    path === undefined
      ? { from, file, names, missingApis }
      : { from, file, names: new Map(), missingApis: [] }
  const connections = watchConnections()
  try {
    const exports =
      path === undefined
        ? { tokens: createTokens() }
        : exportsOf(path, await load(path, file, loadTimeout, connections))
    const tokens = exports['tokens'] as TokenManager
    const seen = lookInto(tokens, { configurationOf, inspectionOf }) ?? (await lookByCopyOf(file, tokens))
    if (seen === undefined)
      throw new CannotLook(
        `${from} exports \`tokens\`, but it is not a token manager (what \`createTokenManager\` returns)`,
      )
    return { ...about, tokens, exports, connections, ...seen }
  } catch (error) {
    if (error instanceof RedisFailed) return { ...about, refused: [], redis: error }
    const refused = refusalsIn(error)
    if (refused === undefined) throw error
    return { ...about, refused }
  }
}

type Exports = Readonly<Record<string, unknown>>

function exportsOf(path: string, loaded: Exports): Exports {
  // a CommonJS module may have its exports on `default` only
  const exports: Record<string, unknown> = { ...(loaded['default'] as object | undefined), ...loaded }
  if (exports['tokens'] === undefined)
    throw new CannotLook(`${path} has no export \`tokens\`: export the token manager under that name`)
  return exports
}

async function load(
  path: string,
  file: string,
  seconds: number,
  connections: () => readonly Connections[],
): Promise<Exports> {
  // standard output is kept for the result of the command
  console.log = console.info = console.debug = console.error
  const late = (what: string, fix: string): CannotLook => {
    const seen = `${path} ${what}: a top-level \`await\` is still pending.${connectionsText(connections())}`
    const silent = connections().find((one) => isOfRedis(one) && one.outcome === 'no response')
    if (silent === undefined) return new CannotLook(`${seen} ${fix}`)
    return new RedisFailed(`${seen} Redis accepts connections but does not respond.`, { ...silent })
  }
  const neverEnds = Promise.withResolvers<never>()
  const fix = `Make that \`await\` fail instead of waiting forever, as the example in ${guide}/fleet.md does.`
  const onEmpty = (): void => neverEnds.reject(late('never finishes loading', fix))
  const timer = setTimeout(
    () => neverEnds.reject(late(`has not loaded in ${seconds} s`, `${fix} Or raise --load-timeout.`)),
    seconds * 1_000,
  )
  // nothing but this keeps the process alive: nothing will ever end the `await`
  timer.unref()
  process.once('beforeExit', onEmpty)
  resolveTypeScript()
  withoutWarning('MODULE_TYPELESS_PACKAGE_JSON')
  try {
    return await Promise.race([import(pathToFileURL(file).href) as Promise<Exports>, neverEnds.promise])
  } catch (error) {
    if (error instanceof CannotLook || refusalsIn(error) !== undefined) throw error
    const message = `${path} cannot be loaded: ${whatFailed(error)}.${connectionsText(connections())}${typescriptHint(error, file)}`
    const code = failureCode(error)
    const redis = connections().find((one) => isOfRedis(one) && (one.outcome === code || one.error === error))
    throw redis ? new RedisFailed(message, { ...redis }) : new CannotLook(message)
  } finally {
    clearTimeout(timer)
    process.off('beforeExit', onEmpty)
  }
}

/** Keeps one of Node's warnings about the application out of the output: it says nothing of why calls fail. */
function withoutWarning(code: string): void {
  for (const print of process.listeners('warning'))
    process.off('warning', print).on('warning', (warning: NodeJS.ErrnoException) => {
      if (warning.code !== code) print(warning)
    })
}

/** Thrown if the module fails with the error of a connection to Redis, or waits for a Redis that does not respond. */
class RedisFailed extends CannotLook {
  readonly connection: Connections

  constructor(message: string, connection: Connections) {
    super(message)
    this.connection = connection
  }
}

/** The functions by which a copy of core tells how its managers are configured. */
type Door = Pick<typeof import('@tokenlane/core/adapter'), 'configurationOf' | 'inspectionOf'>

function lookInto(
  tokens: unknown,
  door: Door,
): Pick<Application, 'configuration' | 'inspection'> | undefined {
  const configuration = door.configurationOf(tokens)
  const inspection = door.inspectionOf(tokens)
  return configuration && inspection && { configuration, inspection }
}

/**
 * Looks into the manager with the copy of core that the application has installed. Under `npx` the command has another
 * copy. Returns `undefined` if that copy cannot be loaded or did not create the manager.
 */
async function lookByCopyOf(file: string, tokens: unknown): Promise<ReturnType<typeof lookInto>> {
  try {
    const door = createRequire(file).resolve('@tokenlane/core/adapter')
    return lookInto(tokens, (await import(pathToFileURL(door).href)) as Door)
  } catch {
    return undefined
  }
}

function refusalsIn(error: unknown): readonly TokenlaneError[] | undefined {
  return isTokenlaneError(error) ? (error.failures ?? [error]) : undefined
}
