import { openService } from '@tokenlane/testing'
import type { Got } from 'got'
import { expect, test } from 'vitest'
import got14 from 'got-14'
import got15 from 'got-15'

import { gotTokens } from '../src/index.ts'

const { sandbox, createManager, calls, outside, revoke } = await openService()

test('got 14 is refused with the version that is needed, whatever the URL, and nothing is sent', async () => {
  const tokens = createManager()
  const client = (got14 as unknown as Got).extend(gotTokens(tokens))
  const refused = expect.objectContaining({
    code: 'INVALID_OPTIONS',
    message: expect.stringContaining('`got` is wrong; allowed: version 15 or later') as string,
  })
  for (const url of [`${sandbox.weblinkUrl}records`, outside()]) {
    await expect(client(url)).rejects.toEqual(refused)
    expect(() => client.stream(url)).toThrow(refused)
  }
  expect(calls()).toBe(0)
  await tokens.close()
})

test('got 15 is served: the token, its renewal, and no token out of the API', async () => {
  const tokens = createManager()
  const client = (got15 as unknown as Got).extend({ prefixUrl: sandbox.weblinkUrl }, gotTokens(tokens))
  await revoke(tokens)
  expect((await client('records')).statusCode).toBe(200)
  expect(calls()).toBe(2)
  const searchParams = { to: outside() }
  expect(await client('redirect', { searchParams }).json()).toEqual({ authorization: false })
  await tokens.close()
})

test('got 15 sends a form once: its 401 is the caller\u2019s', async () => {
  const tokens = createManager()
  const client = (got15 as unknown as Got).extend({ prefixUrl: sandbox.weblinkUrl }, gotTokens(tokens))
  await revoke(tokens)
  const body = new FormData()
  body.set('a', 'b')
  await expect(client.post('echo', { body })).rejects.toMatchObject({ response: { statusCode: 401 } })
  expect(calls()).toBe(1)
  expect((await client.post('echo', { body })).statusCode).toBe(200)
  await tokens.close()
})
