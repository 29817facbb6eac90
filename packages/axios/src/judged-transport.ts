import { hidingAgent, judgeResponses, type JudgedRequest, type Report } from '@tokenlane/core/adapter'
import type { InternalAxiosRequestConfig } from 'axios'

import { judgedFetchOptions } from './judged-fetch.ts'

type Config = InternalAxiosRequestConfig
type OnRequest = (request: NodeJS.EventEmitter) => void

/** Options that make axios' own adapters ask about a response with an error status before they read its body. */
export interface JudgedTransport {
  readonly options: Partial<Config>
  /** Resolves when the bodies of unwanted responses are gone. */
  discarded(): Promise<void> | undefined
}

/** Whether agents make the requests. Elsewhere, axios reads every body first. */
const hasAgents = !('Bun' in globalThis || 'Deno' in globalThis) && 'process' in globalThis

/** Each of axios' adapters looks at its own options only, so all get theirs. */
export function judgedTransport(given: Config, isUnwanted: (report: Report) => boolean): JudgedTransport {
  let judged: JudgedRequest | undefined
  const onRequest: OnRequest = (request) => void (judged = judgeResponses(request, isUnwanted))
  const { httpAgent, httpsAgent } = given
  return {
    options: {
      ...judgedFetchOptions(given, isUnwanted),
      httpAgent: agentFor(httpAgent, 'http', onRequest),
      // axios keeps a tunnel for as long as its agent
      httpsAgent: mayTunnel(given)
        ? hidingAgent<unknown>(httpsAgent)
        : agentFor(httpsAgent, 'https', onRequest),
    },
    discarded: () => judged?.discarded,
  }
}

function agentFor(given: unknown, module: 'http' | 'https', onRequest: OnRequest): unknown {
  if (!hasAgents) return hidingAgent(given)
  const agent = given ?? process.getBuiltinModule(`node:${module}`).globalAgent
  const { options } = agent as { readonly options?: { readonly proxyEnv?: unknown } }
  // axios replaces it where it is not to use its proxy
  return options?.proxyEnv === undefined ? hidingAgent(agent, onRequest) : given
}

function mayTunnel({ proxy }: Config): boolean {
  if (proxy !== undefined) return proxy !== false
  return ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'].some((name) => process.env[name])
}
