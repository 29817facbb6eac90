import type { Driver } from '@tokenlane/conformance'
import type { AxiosInstance, AxiosRequestConfig, AxiosStatic } from 'axios'
import axiosRetry from 'axios-retry'

import { attachTokens } from '../src/index.ts'

/** What a version of axios can do, and by which of its own adapters. */
interface Version {
  readonly name: string
  readonly adapter?: 'fetch' | 'http'
  readonly limits?: Driver<AxiosInstance>['limits']
}

/** Returns the driver of one copy of axios, whose errors it tells by the copy's own classes. */
export function driverOf(axios: AxiosStatic, { name, adapter, limits }: Version): Driver<AxiosInstance> {
  const { AxiosError, isAxiosError, isCancel } = axios
  return {
    name,
    create() {
      const client = axios.create(adapter && { adapter })
      axiosRetry(client, { retries: 0 })
      return client
    },
    attach: (client, tokens) => ({ client, detach: attachTokens(client, tokens) }),
    async send(client, { url, method, headers, body, signal, timeout, retries, stream, tokenlane, show }) {
      const config: AxiosRequestConfig = {
        url,
        method: method ?? 'GET',
        headers: { ...headers },
        data: body?.value,
        responseType: stream === true ? 'stream' : 'text',
        ...(signal && { signal }),
        ...(timeout !== undefined && { timeout }),
        'axios-retry': { retries: retries ?? 0 },
        tokenlane,
      }
      const interceptor = client.interceptors.request.use((given) => {
        show?.(given)
        return given
      })
      show?.(config)
      const sent = client.request<string | AsyncIterable<Uint8Array>>(config)
      client.interceptors.request.eject(interceptor)
      const response = await sent
      const { status, data } = response
      return {
        status,
        headers: new Headers(response.headers as Record<string, string>),
        ...(typeof data === 'string' ? { text: data } : { text: '', stream: data }),
        native: response,
      }
    },
    errors: {
      isAbort: isCancel,
      isTimeout: (error) =>
        isAxiosError(error) &&
        (error.code === AxiosError.ECONNABORTED || error.code === AxiosError.ETIMEDOUT),
      isNetwork: (error) =>
        isAxiosError(error) && error.request !== undefined && error.response === undefined,
      statusOf: (error) => (isAxiosError(error) ? error.response?.status : undefined),
      members: ['config', 'isAxiosError', 'toJSON'],
    },
    limits: {
      ...limits,
      ...(('Bun' in globalThis || 'Deno' in globalThis) && {
        statusFirst: {
          reason: 'On Bun and Deno, axios shows the status of a response after its body.',
          instead: 'A body that cannot be read is an error of axios, as without Tokenlane.',
        },
      }),
      redirectUnits: {
        reason: 'axios follows redirects by itself, and `beforeRedirect` cannot wait.',
        instead: 'The hops are not counted, so leave room in the quota, or set `maxRedirects: 0`.',
      },
      'body: web stream': {
        reason: 'axios does not accept web streams in Node.',
        instead: 'It rejects such a body, as it does without Tokenlane.',
      },
      'body: async generator': {
        reason: 'axios treats a generator as a plain object.',
        instead: 'It sends `{}`, as it does without Tokenlane.',
      },
    },
  }
}
