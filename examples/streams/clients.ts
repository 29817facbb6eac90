import { Readable } from 'node:stream'
import { attachTokens } from '@tokenlane/axios'
import type { TokenManager } from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'
import { gotTokens } from '@tokenlane/got'
import { kyTokens } from '@tokenlane/ky'
import { tokensInterceptor } from '@tokenlane/undici'
import axios from 'axios'
import got from 'got'
import ky from 'ky'
import { Agent, request } from 'undici'
import type { Open } from './read-events.ts'

/** How each client opens a stream of events that may be silent for hours. */
export function openers(tokens: TokenManager, url: string) {
  const fetch = createFetch(tokens)
  const kyClient = ky.extend(kyTokens(tokens))
  const axiosClient = axios.create()
  attachTokens(axiosClient, tokens)
  const gotClient = got.extend(gotTokens(tokens))
  // no timeout between two events
  const agent = new Agent({ bodyTimeout: 0 })
  const dispatcher = agent.compose(tokensInterceptor(tokens))

  return {
    async fetch(headers, signal) {
      const response = await fetch(url, { headers, signal })
      return bodyOf(response)
    },
    async ky(headers, signal) {
      const response = await kyClient.get(url, {
        headers,
        signal,
        timeout: false,
      })
      return bodyOf(response)
    },
    async axios(headers, signal) {
      const responseType = 'stream'
      const { data } = await axiosClient.get<Readable>(url, {
        headers,
        signal,
        responseType,
      })
      return fromNode(data)
    },
    async got(headers, signal) {
      return fromNode(gotClient.stream(url, { headers, signal }))
    },
    async undici(headers, signal) {
      const { statusCode, body } = await request(url, {
        dispatcher,
        headers,
        signal,
      })
      if (statusCode === 200) return fromNode(body)
      await body.dump()
      throw new Error(`No stream: status ${statusCode}`)
    },
  } satisfies Record<string, Open>
}

function bodyOf({ ok, status, body }: Response): ReadableStream<Uint8Array> {
  if (!ok || body === null) throw new Error(`No stream: status ${status}`)
  return body
}

function fromNode(stream: Readable): ReadableStream<Uint8Array> {
  return Readable.toWeb(stream) as ReadableStream<Uint8Array>
}
