import { conformance, type Driver } from '@tokenlane/conformance'
import axios, { AxiosError, isAxiosError, isCancel, type AxiosInstance, type AxiosRequestConfig } from 'axios'
import axiosRetry from 'axios-retry'

import { attachTokens } from '../src/index.ts'

const driver: Driver<AxiosInstance> = {
  name: 'axios',
  create() {
    const client = axios.create()
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
    isTimeout: (error) => isAxiosError(error) && error.code === AxiosError.ECONNABORTED,
    isNetwork: (error) => isAxiosError(error) && error.request !== undefined && error.response === undefined,
    statusOf: (error) => (isAxiosError(error) ? error.response?.status : undefined),
    members: ['config', 'isAxiosError', 'toJSON'],
  },
  limits: {
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

conformance(driver)
