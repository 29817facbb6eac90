import { Agent, globalAgent } from 'node:https'

import { isTokenlaneError, mustKeepFloor } from '@tokenlane/core/adapter'

export interface TlsFacts {
  /** The place of the settings: `this process`, or a path such as `client.defaults.httpsAgent`. */
  readonly where: string
  /** Why a connection could use TLS below 1.2; `undefined` if it could not. */
  readonly weakness?: string
  readonly isUnverified: boolean
}

/** The options of axios and got clients that hold TLS settings. */
interface ClientDefaults {
  readonly httpsAgent?: { readonly options?: unknown }
  readonly http2Options?: unknown
  readonly options?: {
    readonly agent?: { readonly https?: { readonly options?: unknown } }
    readonly https?: unknown
  }
}

/**
 * Returns the TLS settings of the process and of what a module of the application exports: agents, and clients of axios and
 * got. Settings of other clients, and of undici's dispatchers, cannot be read.
 */
export function lookAtTlsSettings(exports: Readonly<Record<string, unknown>>): TlsFacts[] {
  const own = {
    ...factsOf('this process', {}),
    isUnverified: process.env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0',
  }
  // connections that set no version have the same fault, so it is reported once
  if (own.weakness !== undefined) return [own]
  const found = [
    ['https.globalAgent', globalAgent.options] as const,
    ...Object.entries(exports).flatMap(([name, value]) => settingsIn(name, value)),
  ]
  return [own, ...found.map(([where, settings]) => factsOf(where, settings))]
}

type Settings = readonly [where: string, settings: unknown]

function settingsIn(name: string, value: unknown): Settings[] {
  if (value instanceof Agent) return [[name, value.options]]
  const { defaults } = (typeof value === 'function' ? value : {}) as { defaults?: ClientDefaults }
  if (typeof defaults !== 'object') return []
  const { httpsAgent, http2Options, options } = defaults
  const given: Settings[] = [
    [`${name}.defaults.httpsAgent`, httpsAgent?.options],
    [`${name}.defaults.http2Options`, http2Options],
    [`${name}.defaults.options.agent.https`, options?.agent?.https?.options],
    [`${name}.defaults.options.https`, options?.https],
  ]
  return given.filter(([, settings]) => typeof settings === 'object' && settings !== null)
}

function factsOf(where: string, settings: unknown): TlsFacts {
  const { rejectUnauthorized } = (settings ?? {}) as { readonly rejectUnauthorized?: unknown }
  const isUnverified = rejectUnauthorized === false
  try {
    mustKeepFloor('https:', { [where]: settings })
    return { where, isUnverified }
  } catch (error) {
    if (!isTokenlaneError(error)) throw error
    return { where, isUnverified, weakness: error.message }
  }
}
