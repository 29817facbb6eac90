import { once } from 'node:events'

import { conformance, type ScenarioResponse, type Driver } from '@tokenlane/conformance'
import got, {
  AbortError,
  HTTPError,
  RequestError,
  TimeoutError,
  type Got,
  type OptionsInit,
  type PlainResponse,
  type Response,
} from 'got'

import { gotTokens } from '../src/index.ts'

const driver: Driver<Got> = {
  name: 'got',
  create: () => got.extend({ retry: { limit: 0 } }),
  attach: (client, tokens) => ({ client: client.extend(gotTokens(tokens)) }),
  async send(client, { url, method, headers, body, signal, timeout, retries, stream, tokenlane, show }) {
    const options: OptionsInit = {
      method: method ?? 'GET',
      ...(headers && { headers }),
      ...(body?.kind === 'JSON' ? { json: body.value } : body && { body: body.value as string }),
      ...(signal && { signal }),
      ...(timeout !== undefined && { timeout: { request: timeout } }),
      ...(retries !== undefined && {
        retry: { limit: retries, calculateDelay: ({ computedValue }) => Math.min(computedValue, 1) },
      }),
      ...(tokenlane && { context: { tokenlane } }),
      ...(show && { hooks: { beforeRequest: [show], beforeRetry: [show], beforeRedirect: [show] } }),
    }
    show?.(options)
    if (stream !== true) {
      const response = (await client(url, options)) as Response<string>
      return responseOf(response, response.body)
    }
    const answer = client.stream(url, options)
    const [response] = (await once(answer, 'response')) as [PlainResponse]
    return { ...responseOf(response, ''), stream: answer }
  },
  errors: {
    isAbort: (error) => error instanceof AbortError,
    isTimeout: (error) => error instanceof TimeoutError,
    isNetwork: (error) => error instanceof RequestError && error.response === undefined,
    statusOf: (error) => (error instanceof HTTPError ? error.response.statusCode : undefined),
    members: ['options', 'request'],
  },
  limits: {
    detach: {
      reason: '`got.extend` makes a new instance.',
      instead: 'The original instance sends no token.',
    },
    streamRetry: {
      reason: '`got.stream` cannot resend.',
      instead: 'The caller gets the 401, and the next call has a new token.',
    },
    'body: URLSearchParams': {
      reason: 'got accepts URLSearchParams as `form`, not as a body.',
      instead: 'It rejects such a body, as it does without Tokenlane.',
    },
    'body: ArrayBuffer': {
      reason: 'got accepts typed arrays, but not ArrayBuffer.',
      instead: 'It rejects such a body, as it does without Tokenlane.',
    },
    'body: Blob': {
      reason: 'got does not accept a Blob.',
      instead: 'It rejects such a body, as it does without Tokenlane.',
    },
  },
}

function responseOf(response: PlainResponse, text: string): ScenarioResponse {
  const { statusCode, headers } = response
  return {
    status: statusCode,
    headers: new Headers(headers as Record<string, string>),
    text,
    native: response,
  }
}

conformance(driver)
