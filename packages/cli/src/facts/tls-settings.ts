import { Agent, globalAgent } from 'node:https'

import { isTokenlaneError, mustKeepFloor } from '@tokenlane/core/adapter'

export interface TlsFacts {
  /** The place of the settings: `this process`, or a path such as `client.defaults.httpsAgent`. */
  readonly where: string
  /** Why a connection could use TLS below 1.2; `undefined` if it could not. */
  readonly weakness?: string
  readonly isUnverified: boolean
}

/** The settings of axios and got clients that hold TLS settings. */
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
  const isUnverified = process.env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0'
  const own = factsOf('this process', { rejectUnauthorized: !isUnverified })
  // connections that set no version have the same fault, so it is reported once
  if (own.weakness !== undefined) return [own]
  const found = Object.entries({ 'https.globalAgent': globalAgent, ...exports }).flatMap(settingsIn)
  return [own, ...found.map(([where, settings]) => factsOf(where, settings))]
}

function settingsIn([name, value]: [string, unknown]): [where: string, settings: object][] {
  if (value instanceof Agent) return [[name, value.options]]
  const { defaults } = (typeof value === 'function' ? value : {}) as { readonly defaults?: ClientDefaults }
  const given: [string, unknown][] = [
    [`${name}.defaults.httpsAgent`, defaults?.httpsAgent?.options],
    [`${name}.defaults.http2Options`, defaults?.http2Options],
    [`${name}.defaults.options.agent.https`, defaults?.options?.agent?.https?.options],
    [`${name}.defaults.options.https`, defaults?.options?.https],
  ]
  return given.flatMap(([where, settings]) =>
    typeof settings === 'object' && settings !== null ? [[where, settings]] : [],
  )
}

function factsOf(where: string, settings: { readonly rejectUnauthorized?: unknown }): TlsFacts {
  const isUnverified = settings.rejectUnauthorized === false
  try {
    mustKeepFloor('https:', { [where]: settings })
    return { where, isUnverified }
  } catch (error) {
    if (!isTokenlaneError(error)) throw error
    return { where, isUnverified, weakness: error.message }
  }
}
