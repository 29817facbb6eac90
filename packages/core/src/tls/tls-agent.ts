import { builtinModule } from '../runtime/builtin-module.ts'
import { settingsMustKeepFloor } from './tls-floor.ts'

interface AgentLike {
  readonly options?: object
}

interface Https {
  readonly globalAgent: AgentLike
}

/** Node's module; `null` where the runtime has none. */
let https: Https | null | undefined

/**
 * Throws for a call to an `https:` URL through an agent that allows TLS 1.0 or 1.1: the agent that is given, else the
 * global one of `node:https`.
 *
 * @param option the client's option that takes the agent, for the message.
 * @throws TokenlaneError `INSECURE_TRANSPORT`, naming option and setting.
 */
export function agentMustKeepFloor(url: string, agent: unknown, option: string): void {
  if (!url.startsWith('https:')) return
  if (agent !== undefined && agent !== null)
    return settingsMustKeepFloor((agent as AgentLike).options, option)
  if (https === undefined) https = (builtinModule('node:https') as Https | undefined) ?? null
  settingsMustKeepFloor(https?.globalAgent.options, 'https.globalAgent')
}
