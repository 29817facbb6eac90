import { Agent } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import { attachTokens } from '@tokenlane/axios'
import axios, { type AxiosAdapter, type AxiosInstance } from 'axios'
import { createAuthRefresh } from 'axios-auth-refresh'
import PQueue from 'p-queue'

import { body, type Setting, type Variants } from '../support/variants.ts'

export function variantsOfAxios({ openUrl, url, authorization, tokens, limited }: Setting): Variants {
  const httpAgent = new Agent({ keepAlive: true })
  const httpsAgent = new TlsAgent({ keepAlive: true })
  const create = (): AxiosInstance => axios.create({ httpAgent, httpsAgent })
  const bare = create()

  const header = create()
  header.interceptors.request.use((config) => {
    config.headers.set('Authorization', authorization)
    return config
  })

  /** Wraps the adapter: the one place from which a call can go again. */
  const wrapped = (around: (attempt: () => ReturnType<AxiosAdapter>) => ReturnType<AxiosAdapter>) => {
    const client = create()
    client.interceptors.request.use((config) => {
      const given = config.adapter
      config.adapter = (attempt) =>
        around(async () => {
          const adapter = axios.getAdapter(given, attempt)
          const headers = attempt.headers.concat({ Authorization: authorization })
          const response = await adapter({ ...attempt, headers })
          return response
        })
      return config
    })
    return client
  }
  const wrapper = wrapped((attempt) => attempt())
  const queue = new PQueue({ concurrency: 1_000 })
  const queued = wrapped((attempt) => queue.add(attempt))

  const managed = create()
  attachTokens(managed, tokens)
  const managedQueued = create()
  attachTokens(managedQueued, limited)

  const peer = create()
  peer.interceptors.request.use((config) => {
    config.headers.set('Authorization', authorization)
    return config
  })
  // axios has its types twice, for ESM and for CommonJS
  createAuthRefresh(peer as never, () => Promise.resolve())

  return {
    bare: () => bare.get(openUrl),
    'constant header': () => header.get(url),
    'wrapper by hand': () => wrapper.get(url),
    'wrapper, p-queue': () => queued.get(url),
    Tokenlane: () => managed.get(url),
    'Tokenlane, policy': () => managedQueued.get(url),
    'axios-auth-refresh': () => peer.get(url),
    'bare, POST': () => bare.post(openUrl, body),
    'wrapper by hand, POST': () => wrapper.post(url, body),
    'Tokenlane, POST': () => managed.post(url, body),
  }
}
