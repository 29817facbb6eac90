import { Agent } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import { attachTokens } from '@tokenlane/axios'
import axios, { type AxiosAdapter, type AxiosInstance } from 'axios'
import { createAuthRefresh } from 'axios-auth-refresh'
import PQueue from 'p-queue'

import { body, type Setting, variantsOf, type Variants } from '../support/variants.ts'

export function variantsOfAxios(setting: Setting): Variants {
  const { authorization, tokens, limited } = setting
  const httpAgent = new Agent({ keepAlive: true })
  const httpsAgent = new TlsAgent({ keepAlive: true })
  const create = (...changes: ((client: AxiosInstance) => unknown)[]): AxiosInstance => {
    const client = axios.create({ httpAgent, httpsAgent })
    for (const change of changes) change(client)
    return client
  }
  const setHeader = (client: AxiosInstance): unknown =>
    client.interceptors.request.use((config) => {
      config.headers.set('Authorization', authorization)
      return config
    })

  /** Wraps the adapter: the one place from which a call can go again. */
  const wrapped = (around: (attempt: () => ReturnType<AxiosAdapter>) => ReturnType<AxiosAdapter>) =>
    create(({ interceptors }) =>
      interceptors.request.use((config) => {
        const given = config.adapter
        config.adapter = (attempt) =>
          around(async () => {
            const adapter = axios.getAdapter(given, attempt)
            const headers = attempt.headers.concat({ Authorization: authorization })
            const response = await adapter({ ...attempt, headers })
            return response
          })
        return config
      }),
    )
  const queue = new PQueue({ concurrency: 1_000 })

  return variantsOf(
    setting,
    {
      bare: create(),
      'constant header': create(setHeader),
      'wrapper by hand': wrapped((attempt) => attempt()),
      'wrapper, p-queue': wrapped((attempt) => queue.add(attempt)),
      Tokenlane: create((client) => attachTokens(client, tokens)),
      'Tokenlane, policy': create((client) => attachTokens(client, limited)),
      // axios has its types twice, for ESM and for CommonJS
      'axios-auth-refresh': create(setHeader, (client) =>
        createAuthRefresh(client as never, () => Promise.resolve()),
      ),
    },
    (client, url) => client.get(url),
    (client, url) => client.post(url, body),
  )
}
