import { Agent } from 'node:https'
import { Readable } from 'node:stream'

import { attachTokens } from '@tokenlane/axios'
import { isTokenlaneError, type TokenManager } from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'
import { gotTokens } from '@tokenlane/got'
import { kyTokens } from '@tokenlane/ky'
import { tokensInterceptor } from '@tokenlane/undici'
import axios from 'axios'
import got from 'got'
import ky from 'ky'
import { Agent as UndiciAgent, interceptors, request as undiciRequest } from 'undici'

type ClientName = 'axios' | 'got' | 'ky' | 'fetch' | 'undici'

export interface Request {
  readonly url: string
  readonly method: 'GET' | 'POST'
  /** Whether its body is a stream, which can be sent once. */
  readonly stream: boolean
  readonly signal?: AbortSignal
}

/** Sends a request, reads the response to its end, and returns its status, or throws as the client does. */
export type Send = (request: Request) => Promise<number>

const text = JSON.stringify({ amount: 7, note: 'x'.repeat(2_000) })
const headers = { 'content-type': 'application/json' }

/** All clients, as applications make them, but without retries of their own: each send counts. */
export function createClients(tokens: TokenManager): {
  send: Record<ClientName, Send>
  close(): Promise<void>
} {
  const agent = new Agent({ keepAlive: true })

  const axiosClient = axios.create({ httpsAgent: agent })
  attachTokens(axiosClient, tokens)
  const gotClient = got.extend({ retry: { limit: 0 }, agent: { https: agent } }, gotTokens(tokens))
  const kyClient = ky.create({ retry: 0, timeout: false }).extend(kyTokens(tokens))
  const undiciAgent = new UndiciAgent()
  const dispatcher = undiciAgent.compose(
    tokensInterceptor(tokens),
    interceptors.redirect({ maxRedirections: 20 }),
  )
  const managedFetch = createFetch(tokens)

  return {
    send: {
      async axios(request) {
        const { url, method, signal } = request
        const data = nodeBody(request)
        const response = await axiosClient.request({ url, method, headers, data, ...(signal && { signal }) })
        return response.status
      },
      async got(request) {
        const { url, method, signal } = request
        const body = nodeBody(request)
        const response = await gotClient(url, {
          method,
          ...(body !== undefined && { headers, body }),
          ...(signal && { signal }),
        })
        return response.statusCode
      },
      async ky(request) {
        const { url, method, signal } = request
        const response = await kyClient(url, { method, ...webBody(request), ...(signal && { signal }) })
        await response.arrayBuffer()
        return response.status
      },
      async fetch(request) {
        const { url, method, signal } = request
        const response = await managedFetch(url, { method, ...webBody(request), ...(signal && { signal }) })
        await response.arrayBuffer()
        return response.status
      },
      async undici(request) {
        const { url, method, signal } = request
        const body = nodeBody(request)
        const response = await undiciRequest(url, {
          dispatcher,
          method,
          ...(body !== undefined && { headers, body }),
          ...(signal && { signal }),
        })
        await response.body.arrayBuffer()
        return response.statusCode
      },
    },
    async close() {
      agent.destroy()
      await undiciAgent.destroy()
    },
  }
}

function nodeBody({ method, stream }: Request): string | Readable | undefined {
  if (method === 'GET') return undefined
  return stream ? Readable.from([text]) : text
}

function webBody({ method, stream }: Request): RequestInit {
  if (method === 'GET') return {}
  return stream ? { headers, body: new Blob([text]).stream(), duplex: 'half' } : { headers, body: text }
}

/** Returns an error of ours by its code, a response by its status, and else what the network or the client says. */
export function outcomeOf(error: unknown): string {
  let code: string | undefined
  for (let next = error; next instanceof Error; next = next.cause) {
    if (isTokenlaneError(next)) return next.code
    const { response, code: own } = next as Error & {
      response?: { status?: number; statusCode?: number }
      code?: unknown
    }
    const status = response?.status ?? response?.statusCode
    // got keeps the response of a body that broke off
    if (status !== undefined && status >= 400) return `status ${status}`
    if (typeof own === 'string' && own !== '') code = own
  }
  return code ?? (error instanceof Error ? error.name : typeof error)
}
