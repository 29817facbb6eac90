import {
  discardBody,
  encryptedOnly,
  hidingAgent,
  judgeResponses,
  namesProxy,
  type Report,
} from '@tokenlane/core/adapter'
import type { InternalAxiosRequestConfig } from 'axios'

import { judgedFetchOptions, withoutRedirects } from './judged-fetch.ts'

type Config = InternalAxiosRequestConfig
type OnRequest = (request: NodeJS.EventEmitter) => void

/** Options that make axios' own adapters ask about a response before they read its body. */
export interface JudgedTransport {
  readonly options: Partial<Config>
  /** Returns axios options that read the unwanted response after all, once its body is gone; `undefined` without one. */
  refused(): Refused | undefined
}

interface Sending {
  readonly isFetch: boolean
  readonly isHttps: boolean
  readonly authorization: string
}

type Refused = () => Promise<Partial<Config>>

/** Whether agents make the requests. Elsewhere, axios reads every body first. */
const hasAgents = !('Bun' in globalThis || 'Deno' in globalThis) && 'process' in globalThis

/** Makes Node's adapter ask, or axios' adapter for `fetch`: each looks at its own options only. */
export function judgedTransport(
  given: Config,
  { isFetch, isHttps, authorization }: Sending,
  isUnwanted: (report: Report) => boolean,
): JudgedTransport {
  let refused: Refused | undefined
  const onRequest: OnRequest = (request) => {
    const judged = judgeResponses(request, (report) => {
      if (!isUnwanted(report)) return false
      refused = async () => ({ transport: transportTo(await judged.refused()) })
      return true
    })
  }
  const judge = async (response: Response): Promise<Response> => {
    const { status, headers, body } = response
    if (!isUnwanted({ status, header: (name) => headers.get(name) })) return response
    const chunks = await discardBody(body)
    const again = async (): Promise<Response> => new Response(chunks && new Blob(chunks as never), response)
    refused = async () => ({ env: { ...given.env, fetch: again } })
    return new Response('', { status })
  }
  const own = isHttps ? 'httpsAgent' : 'httpAgent'
  const isNode = hasAgents && !isFetch
  // axios keeps a tunnel for as long as its agent; before 1.16 it makes none
  const isProxied = isNode && isHttps && (given.proxy ?? namesProxy()) !== false
  const options = {
    httpAgent: isProxied
      ? encryptedOnly(given.httpAgent, authorization)
      : hidingAgent<unknown>(given.httpAgent),
    httpsAgent: hidingAgent<unknown>(given.httpsAgent),
    ...(isNode && !isProxied && { [own]: agentFor(given[own], isHttps, onRequest) }),
    ...(isFetch ? judgedFetchOptions(given, judge) : { fetchOptions: withoutRedirects(given) }),
  }
  return { options, refused: () => refused }
}

/** Returns a stand-in for `node:http` that gives axios this response. */
function transportTo(response: object): object {
  const { PassThrough } = process.getBuiltinModule('node:stream')
  return {
    request(_: object, respond: (response: object) => void) {
      queueMicrotask(() => respond(response))
      return Object.assign(new PassThrough(), { setTimeout() {} })
    },
  }
}

function agentFor(given: unknown, isHttps: boolean, onRequest: OnRequest): unknown {
  const agent = given ?? process.getBuiltinModule(isHttps ? 'node:https' : 'node:http').globalAgent
  const { options } = agent as { readonly options?: { readonly proxyEnv?: unknown } }
  // axios replaces it where it is not to use its proxy
  return options?.proxyEnv === undefined ? hidingAgent(agent, onRequest) : given
}
