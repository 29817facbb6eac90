import { type AgentOptions, globalAgent } from 'node:https'

import { isTokenlaneError, mustKeepFloor } from '@tokenlane/core/adapter'

export interface TlsFacts {
  readonly where: 'this process' | 'https.globalAgent'
  /** Why a connection could use TLS below 1.2; `undefined` if it could not. */
  readonly weakness?: string
  readonly isUnverified: boolean
}

/** Returns the TLS settings of the process. Those of one agent or client are judged by the adapter, at its first call. */
export function lookAtTlsSettings(): TlsFacts[] {
  const isUnverified = process.env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0'
  const own = factsOf('this process', { rejectUnauthorized: !isUnverified })
  // connections that set no version have the same fault, so it is reported once
  return own.weakness === undefined ? [own, factsOf('https.globalAgent', globalAgent.options)] : [own]
}

function factsOf(where: TlsFacts['where'], settings: AgentOptions): TlsFacts {
  const isUnverified = settings.rejectUnauthorized === false
  try {
    mustKeepFloor('https:', { [where]: settings })
    return { where, isUnverified }
  } catch (error) {
    if (!isTokenlaneError(error)) throw error
    return { where, isUnverified, weakness: error.message }
  }
}
