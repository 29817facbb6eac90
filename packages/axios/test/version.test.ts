import { Agent } from 'node:https'

import { openScriptedApi, rejection } from '@tokenlane/conformance'
import { openService } from '@tokenlane/testing'
import axios from 'axios'
import axios16 from 'axios-1.6'
import axios17 from 'axios-1.7'
import { expect, onTestFinished, test } from 'vitest'

import { type AxiosLike, attachTokens } from '../src/index.ts'

const { sandbox, createManager, calls, outside, revoke } = await openService()

test('an instance of axios 1.6 is refused with the version that is needed', async () => {
  const tokens = createManager()
  expect(() => attachTokens(axios16.create() as unknown as AxiosLike, tokens)).toThrow(
    expect.objectContaining({
      code: 'INVALID_OPTIONS',
      message: expect.stringContaining('must be an instance of axios 1.7 or later') as string,
    }),
  )
  await tokens.close()
})

test.each([[['http']], [['xhr', 'fetch']], [['http', 'fetch']]])(
  'an instance that lists its adapters itself, %j, is served, with a 401 that is too long to read',
  async (adapter) => {
    const api = await openScriptedApi((_, number) =>
      number === 1 ? { ...rejection, body: 'x'.repeat(5_000) } : { status: 200 },
    )
    onTestFinished(() => api.close())
    const tokens = createManager({ apis: [{ baseUrl: api.url, issuer: 'weblink' }] })
    onTestFinished(() => tokens.close())
    const client = axios.create({ adapter, proxy: false, maxContentLength: 2_000 })
    attachTokens(client, tokens)
    expect((await client.get(api.url)).status).toBe(200)
  },
)

test('an instance of axios 1.7 is served: the token, its renewal, and no token out of the API', async () => {
  const tokens = createManager()
  const httpsAgent = new Agent({ ca: sandbox.ca })
  const client = axios17.create({ baseURL: sandbox.weblinkUrl, httpsAgent })
  attachTokens(client as unknown as AxiosLike, tokens)
  await revoke(tokens)
  expect((await client.get('records')).status).toBe(200)
  expect(calls()).toBe(2)
  const { data } = await client.get<unknown>('redirect', { params: { to: outside() } })
  expect(data).toEqual({ authorization: false })
  await tokens.close()
})
