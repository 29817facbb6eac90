import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

import { isTokenlaneError, type TokenlaneError, type TokenManager } from '@tokenlane/core'
import { configurationOf, inspectionOf } from '@tokenlane/core/adapter'

import { CannotLook } from '../exit-status.ts'
import type { Application, RefusedApplication, Source } from './application.ts'
import { findModule } from './find-module.ts'
import { fromEnvironment } from './from-environment.ts'

/**
 * Returns the application with its token manager, or with the errors of its options.
 *
 * The token manager comes from the module that `source` names. If `source` has neither a module nor a URL, it comes
 * from a module in a usual place. In all other cases it is created from the URLs and the environment variables.
 *
 * @throws CannotLook if no token manager is found, or if the module fails for a reason other than its options.
 */
export async function loadApplication(source: Source): Promise<Application | RefusedApplication> {
  const folder = process.cwd()
  const path = source.module ?? (namesUrl(source) ? undefined : findModule(folder))
  const from = path ?? 'environment variables'
  const file = resolve(folder, path ?? 'package.json')
  try {
    const exports = path === undefined ? { tokens: fromEnvironment(source) } : await exportsOf(path, file)
    const tokens = exports['tokens'] as TokenManager
    const seen = lookInto(tokens, { configurationOf, inspectionOf }) ?? (await lookByCopyOf(file, tokens))
    if (seen === undefined)
      throw new CannotLook(`${from} exports \`tokens\`, but not what \`createTokenManager\` returns`)
    return { from, file, tokens, exports, ...seen }
  } catch (error) {
    const refused = refusalsIn(error)
    if (refused === undefined) throw error
    return { from, file, refused }
  }
}

function namesUrl({ authUrl, apiUrl, weblinkAuthUrl, weblinkUrl }: Source): boolean {
  return [authUrl, apiUrl, weblinkAuthUrl, weblinkUrl].some((url) => url !== undefined)
}

async function exportsOf(path: string, file: string): Promise<Readonly<Record<string, unknown>>> {
  const loaded = await load(path, file)
  // a CommonJS module may have its exports on `default` only
  const exports: Record<string, unknown> = { ...(loaded['default'] as object | undefined), ...loaded }
  if (exports['tokens'] === undefined)
    throw new CannotLook(`${path} has no export \`tokens\`: export the token manager by that name`)
  return exports
}

async function load(path: string, file: string): Promise<Readonly<Record<string, unknown>>> {
  // standard output is kept for the result of the command
  console.log = console.info = console.debug = console.error
  try {
    return (await import(pathToFileURL(file).href)) as Readonly<Record<string, unknown>>
  } catch (error) {
    if (refusalsIn(error) !== undefined) throw error
    const { name, code } = error as { name?: string; code?: string }
    // the error's message is left out: it may quote a file that the module read
    throw new CannotLook(`${path} cannot be loaded: ${[name, code].filter(Boolean).join(' ')}`)
  }
}

/** The functions by which a copy of core tells how its managers are configured. */
interface Door {
  readonly configurationOf: typeof configurationOf
  readonly inspectionOf: typeof inspectionOf
}

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
  return isTokenlaneError(error) ? (error.errors ?? [error]) : undefined
}
