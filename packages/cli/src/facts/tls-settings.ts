import { Agent, globalAgent } from 'node:https'

import { dispatcherSettings, isTokenlaneError, settingsMustKeepFloor } from '@tokenlane/core/adapter'

/** TLS settings that calls of the application may use. */
export interface TlsFacts {
  /** `this process`, or where they stand, such as `client.defaults.httpsAgent`. */
  readonly where: string
  /** Why a connection could go below TLS 1.2, `undefined` if none could. */
  readonly weakness?: string
  /** Whether any certificate is accepted. */
  readonly isUnverified: boolean
}

/** Options of a client, as far as they lead to TLS settings: those of axios and got. */
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
 * agents and undici's dispatchers. What a client of another kind uses cannot be seen.
 */
export function lookAtTlsSettings(exports: Readonly<Record<string, unknown>>): TlsFacts[] {
  const process = factsOf('this process', {})
  // then every connection that names no version itself has the same fault
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
