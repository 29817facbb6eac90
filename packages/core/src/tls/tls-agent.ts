import { lowestTls, refuseOpen, tlsFloor } from './tls-floor.ts'

/** What counts of an agent of `node:https`, and of those that are made after it. */
interface AgentLike {
  readonly options?: object
}

interface Https {
  readonly globalAgent: AgentLike
  readonly Agent: new (options: object) => AgentLike
}

/**
 * The TLS rule for a call that goes through an agent of `node:https`, by default through its global one.
 *
 * @returns the `minVersion` to send the request with, which counts where the agent names none.
 * @throws TokenlaneError `INSECURE_TRANSPORT` for an agent that allows TLS 1.0 or 1.1, naming the option.
 */
export function agentFloor(agent: unknown, option: string): typeof lowestTls | undefined {
  if (agent === undefined || agent === null)
    return tlsFloor(nodeHttps()?.globalAgent.options, 'https.globalAgent')
  return tlsFloor((agent as AgentLike).options, option)
}

/**
 * Chooses the agent to add to a call, for a client that takes no `minVersion`: none, but where none is given and the
 * process would go below TLS 1.2, one that is made once.
 *
 * Choosing throws TokenlaneError `INSECURE_TRANSPORT` for an agent that allows TLS 1.0 or 1.1, given or global,
 * naming the option.
 */
export function secureAgents(option: string): (url: string, given: unknown) => unknown {
  let own: AgentLike | undefined
  return (url, given) => {
    if (!url.startsWith('https:') || agentFloor(given, option) === undefined) return undefined
    if (given !== undefined && given !== null) refuseOpen(option, `minVersion: '${lowestTls}'`)
    return (own ??= makeAgent())
  }
}

/** The global agent, but for the floor. */
function makeAgent(): AgentLike {
  const https = nodeHttps()
  // what somebody put in its place may do more than its options tell
  if (https === undefined || https.globalAgent.constructor !== https.Agent)
    return refuseOpen('https.globalAgent', `minVersion: '${lowestTls}'`)
  return new https.Agent({ ...https.globalAgent.options, minVersion: lowestTls })
}

function nodeHttps(): Https | undefined {
  https ??= globalThis.process?.getBuiltinModule?.('node:https') as Https | undefined
  return https
}

let https: Https | undefined
