import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'

import { openScriptedApi, type ScriptedResponse } from '@tokenlane/conformance'
import { openService } from '@tokenlane/testing'
import axios, { AxiosError, type AxiosRequestConfig } from 'axios'
import { describe, expect, onTestFinished, test } from 'vitest'

import { attachTokens } from '../src/index.ts'

// A call that waits after a 429 while its manager closes: the caller gets that response, as axios alone gives it.

const { createManager } = await openService()

const limited: ScriptedResponse = {
  status: 429,
  headers: { 'retry-after': '600', 'content-type': 'application/json', 'content-encoding': 'gzip' },
  body: gzipSync('{"error":"slow down"}'),
}

/** Sends a call to an API that refuses each for its limit, and closes the manager while the call waits. */
async function closeMeanwhile(response: ScriptedResponse, config: AxiosRequestConfig): Promise<AxiosError> {
  const api = await openScriptedApi(() => response)
  onTestFinished(() => api.close())
  const queued = Promise.withResolvers<void>()
  const tokens = createManager({
    apis: [{ baseUrl: api.url, issuer: 'weblink', ratePolicy: { limits: [] } }],
    observe: ({ type }) => type === 'call.queued' && queued.resolve(),
  })
  await tokens.warmUp()
  const client = axios.create(config)
  attachTokens(client, tokens)
  const call = client.post(api.url, 'x').catch((error: unknown) => error)
  await queued.promise
  await tokens.close()
  const error = await call
  expect(api.requests.length).toBe(1)
  expect(error).toBeInstanceOf(AxiosError)
  return error as AxiosError
}

describe.each(['http', 'fetch'] as const)('with the adapter %s', (adapter) => {
  test('with its headers and its body', async () => {
    const { response, config } = await closeMeanwhile(limited, { adapter })
    expect(response).toMatchObject({ status: 429, data: { error: 'slow down' } })
    expect(response?.headers['retry-after']).toBe('600')
    expect(response?.config).toBe(config)
    expect(config?.headers.has('authorization')).toBe(false)
  })

  test('as a stream', async () => {
    const { response } = await closeMeanwhile(limited, { adapter, responseType: 'stream' })
    expect(await text(response?.data as AsyncIterable<string>)).toBe('{"error":"slow down"}')
  })

  test('without a body that was given up', async () => {
    const long = { ...limited, headers: { 'retry-after': '600' }, body: 'x'.repeat(200_000) }
    const { response } = await closeMeanwhile(long, { adapter })
    expect(response).toMatchObject({ status: 429, data: '' })
    expect(response?.headers['retry-after']).toBe('600')
  })
})
