import { settingsMustKeepFloor } from './tls-floor.ts'

interface AgentLike {
  readonly options?: object
}

let https: { readonly globalAgent: AgentLike } | undefined

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
  https ??= globalThis.process?.getBuiltinModule?.('node:https')
  settingsMustKeepFloor(https?.globalAgent.options, 'https.globalAgent')
}
