import { Agent } from 'node:https'

import { openService } from '@tokenlane/testing'
import axios16 from 'axios-1.6'
import axios17 from 'axios-1.7'
import { expect, test } from 'vitest'

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
