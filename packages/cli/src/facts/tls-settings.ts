import { Agent, globalAgent } from 'node:https'

import { dispatcherSettings, isTokenlaneError, settingsMustKeepFloor } from '@tokenlane/core/adapter'

/** TLS settings that calls of the application may use. */
export interface TlsFacts {
  /** The place of the settings: `this process`, or a path such as `client.defaults.httpsAgent`. */
  readonly where: string
  /** Why a connection could use TLS below 1.2; `undefined` if it could not. */
  readonly weakness?: string
  /** Whether connections accept any certificate. */
  readonly isUnverified: boolean
}

/** The options of axios and got clients that hold TLS settings. */
interface ClientDefaults {
  readonly httpsAgent?: { readonly options?: unknown }
  readonly http2Options?: unknown
  readonly fetchOptions?: { readonly dispatcher?: unknown }
  readonly options?: {
    readonly agent?: { readonly https?: { readonly options?: unknown } }
    readonly https?: unknown
  }
}

/**
 * Returns the TLS settings of the process and of what a module of the application exports: clients of axios and got,
 * agents and undici's dispatchers. Settings of other clients cannot be read.
 */
export function lookAtTlsSettings(exports: Readonly<Record<string, unknown>>): TlsFacts[] {
  const process = factsOf('this process', {})
  // connections that set no version have the same fault, so it is reported once
  if (process.weakness !== undefined) return [process]
  const found = [
    ['https.globalAgent', globalAgent.options] as const,
    ...dispatcherSettings().map((settings) => ['the global dispatcher', settings] as const),
    ...Object.entries(exports).flatMap(([name, value]) => settingsIn(name, value)),
  ]
  return [process, ...found.map(([where, settings]) => factsOf(where, settings))]
}

type Settings = readonly [where: string, settings: unknown]

function settingsIn(name: string, value: unknown): Settings[] {
  if (value instanceof Agent) return [[name, value.options]]
  if (typeof value === 'object' && value !== null && 'dispatch' in value)
    return dispatcherSettings(value).map((settings) => [name, settings])
  const { defaults } = (typeof value === 'function' ? value : {}) as { defaults?: ClientDefaults }
  if (typeof defaults !== 'object') return []
  const { httpsAgent, http2Options, fetchOptions, options } = defaults
  const given: Settings[] = [
    [`${name}.defaults.httpsAgent`, httpsAgent?.options],
    [`${name}.defaults.http2Options`, http2Options],
    [`${name}.defaults.options.agent.https`, options?.agent?.https?.options],
    [`${name}.defaults.options.https`, options?.https],
    ...(fetchOptions?.dispatcher === undefined ? [] : dispatcherSettings(fetchOptions.dispatcher)).map(
      (settings): Settings => [`${name}.defaults.fetchOptions.dispatcher`, settings],
    ),
  ]
  return given.filter(([, settings]) => typeof settings === 'object' && settings !== null)
}

function factsOf(where: string, settings: unknown): TlsFacts {
  const { rejectUnauthorized } = (settings ?? {}) as { readonly rejectUnauthorized?: unknown }
  const isUnverified = rejectUnauthorized === false
  try {
    settingsMustKeepFloor(settings, where)
    return { where, isUnverified }
  } catch (error) {
    if (!isTokenlaneError(error)) throw error
    return { where, isUnverified, weakness: error.message }
  }
}
