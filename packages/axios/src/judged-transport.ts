import { hidingAgent, judgeResponses, type JudgedRequest, type Report } from '@tokenlane/core/adapter'
import type { InternalAxiosRequestConfig } from 'axios'

import { judgedFetchOptions, withoutRedirects } from './judged-fetch.ts'

type Config = InternalAxiosRequestConfig
type OnRequest = (request: NodeJS.EventEmitter) => void

/** Options that make axios' own adapters ask about a response before they read its body. */
export interface JudgedTransport {
  readonly options: Partial<Config>
  /** Resolves when the bodies of unwanted responses are gone. */
  discarded(): Promise<unknown> | undefined
}

/** Whether agents make the requests. Elsewhere, axios reads every body first. */
const hasAgents = !('Bun' in globalThis || 'Deno' in globalThis) && 'process' in globalThis

/** Makes Node's adapter ask, or axios' adapter for `fetch`: each looks at its own options only. */
export function judgedTransport(
  given: Config,
  { isFetch, isHttps }: { readonly isFetch: boolean; readonly isHttps: boolean },
  isUnwanted: (report: Report) => boolean,
): JudgedTransport {
  let judged: JudgedRequest | undefined
  const onRequest: OnRequest = (request) => void (judged = judgeResponses(request, isUnwanted))
  const [own, other] = isHttps
    ? (['httpsAgent', 'httpAgent'] as const)
    : (['httpAgent', 'httpsAgent'] as const)
  // axios keeps a tunnel for as long as its agent
  const mayJudge = hasAgents && !isFetch && !(isHttps && mayTunnel(given))
  const options = {
    [own]: mayJudge ? agentFor(given[own], isHttps, onRequest) : hidingAgent<unknown>(given[own]),
    [other]: hidingAgent<unknown>(given[other]),
    ...(isFetch ? judgedFetchOptions(given, isUnwanted) : { fetchOptions: withoutRedirects(given) }),
  }
  return { options, discarded: () => judged?.discarded }
}

function agentFor(given: unknown, isHttps: boolean, onRequest: OnRequest): unknown {
  const agent = given ?? process.getBuiltinModule(isHttps ? 'node:https' : 'node:http').globalAgent
  const { options } = agent as { readonly options?: { readonly proxyEnv?: unknown } }
  // axios replaces it where it is not to use its proxy
  return options?.proxyEnv === undefined ? hidingAgent(agent, onRequest) : given
}

function mayTunnel({ proxy }: Config): boolean {
  if (proxy !== undefined) return proxy !== false
  return ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'].some((name) => process.env[name])
}
