import { agentSettings, mustKeepFloor } from '@tokenlane/core/adapter'
import type { NormalizedOptions } from 'got'

/** Throws for a call that would go below TLS 1.2. An agent's own options count before those of the call. */
export function mustBeSecure({ url, https, agent }: NormalizedOptions): void {
  if (url !== undefined) mustKeepFloor(url.href, { ...agentSettings(agent.https, 'agent.https'), https })
}
