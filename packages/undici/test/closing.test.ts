import { openScriptedApi, type ScriptedResponse } from '@tokenlane/conformance'
import type { TokenManager } from '@tokenlane/core'
import { openService } from '@tokenlane/testing'
import * as undici7 from 'undici'
import * as undici8 from 'undici-8'
import { describe, expect, onTestFinished, test } from 'vitest'

import { tokensInterceptor } from '../src/index.ts'

// A call that waits after a 429 while its manager closes: the caller gets that response, as undici alone gives it.

const { createManager } = await openService()
const versions = [
  { version: 7, undici: undici7 },
  // their types do not fit each other
  { version: 8, undici: undici8 as unknown as typeof undici7 },
]

const limited: ScriptedResponse = {
  status: 429,
  headers: { 'retry-after': '600', 'x-from': 'api', 'content-type': 'application/json' },
  body: '{"error":"slow down"}',
}

async function paused(
  response: ScriptedResponse,
): Promise<{ url: string; tokens: TokenManager; began: Promise<void> }> {
  const api = await openScriptedApi(() => response)
  const began = Promise.withResolvers<void>()
  const tokens = createManager({
    apis: [{ baseUrl: api.url, issuer: 'weblink', ratePolicy: { limits: [] } }],
    observe: ({ type }) => type === 'call.queued' && began.resolve(),
  })
  await tokens.warmUp()
  onTestFinished(() => api.close())
  return { url: api.url, tokens, began: began.promise }
}

describe.each(versions)('undici $version', ({ undici }) => {
  const { Agent, interceptors, request } = undici

  test('with its headers and its body', async () => {
    const { url, tokens, began } = await paused(limited)
    const call = request(url, { dispatcher: new Agent().compose(tokensInterceptor(tokens)) })
    await began
    await tokens.close()
    const { statusCode, headers, body } = await call
    expect([statusCode, headers['x-from'], await body.json()]).toEqual([429, 'api', { error: 'slow down' }])
  })

  test('with an error where the rest of its body was given up', async () => {
    const { url, tokens, began } = await paused({ ...limited, body: 'x'.repeat(200_000) })
    const call = request(url, { dispatcher: new Agent().compose(tokensInterceptor(tokens)) })
    await began
    await tokens.close()
    const { statusCode, body } = await call
    expect(statusCode).toBe(429)
    await expect(body.text()).rejects.toThrow('its first response was discarded')
  })

  test('as the error that `responseError` beneath makes of it', async () => {
    const { url, tokens, began } = await paused(limited)
    const dispatcher = new Agent().compose(interceptors.responseError(), tokensInterceptor(tokens))
    const call = request(url, { dispatcher }).catch((error: unknown) => error)
    await began
    await tokens.close()
    expect(await call).toMatchObject({ code: 'UND_ERR_RESPONSE', statusCode: 429 })
  })
})
