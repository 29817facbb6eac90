import { builtinModule } from './builtin-module.ts'

/** Agents of `node:http` and `node:https` that use each connection for one request. */
export interface SingleUseAgents {
  readonly http: object
  readonly https: object
}

interface Module {
  readonly Agent: new (options: { readonly keepAlive: boolean }) => object
}

let agents: SingleUseAgents | undefined

/**
 * Returns agents for calls that name none, `undefined` where connections can be used again.
 *
 * Deno sends a request once more that was aborted on a connection in use before, and its error never comes
 * (denoland/deno#36786). On a TLS connection that stays open, a body that is streamed never ends.
 */
export function singleUseAgents(): SingleUseAgents | undefined {
  if (globalThis.process?.versions?.['deno'] === undefined) return undefined
  const http = builtinModule('node:http') as Module
  const https = builtinModule('node:https') as Module
  agents ??= { http: new http.Agent({ keepAlive: false }), https: new https.Agent({ keepAlive: false }) }
  return agents
}
