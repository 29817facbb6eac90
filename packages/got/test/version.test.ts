import { openService } from '@tokenlane/testing'
import type { BeforeRequestHook, Got } from 'got'
import { expect, test } from 'vitest'
import got14 from 'got-14'
import got15 from 'got-15'
import got150 from 'got-15.0'
import got151 from 'got-15.1'

import { gotTokens } from '../src/index.ts'

const { sandbox, createManager, calls, outside, revoke } = await openService()

test('got 14 is refused with the version that is needed, whatever the URL, and nothing is sent', async () => {
  const tokens = createManager()
  const client = (got14 as unknown as Got).extend(gotTokens(tokens))
  const refused = expect.objectContaining({
    code: 'INVALID_OPTIONS',
    message: expect.stringContaining('`got` must be version 15 or later') as string,
  })
  for (const url of [`${sandbox.weblinkUrl}records`, outside()]) {
    await expect(client(url)).rejects.toEqual(refused)
    expect(() => client.stream(url)).toThrow(refused)
  }
  expect(calls()).toBe(0)
  await tokens.close()
})

const served = [got15, got150, got151] as unknown as Got[]

test.each(served)(
  'got 15 is served: the token, its renewal, and no token out of the API',
  async (version) => {
    const tokens = createManager()
    const client = version.extend({ prefixUrl: sandbox.weblinkUrl }, gotTokens(tokens))
    await revoke(tokens)
    expect((await client('records')).statusCode).toBe(200)
    expect(calls()).toBe(2)
    const searchParams = { to: outside() }
    expect(await client('redirect', { searchParams }).json()).toEqual({ authorization: false })
    await tokens.close()
  },
)

test.each(served)(
  'got 15 beside another copy: its errors are those of the copy that made the call',
  async (version) => {
    sandbox.control.slowIssuer('weblink', 600_000)
    const tokens = createManager()
    const client = version.extend({ prefixUrl: sandbox.weblinkUrl, retry: { limit: 0 } }, gotTokens(tokens))
    const failure = (call: Promise<unknown>): Promise<Error> =>
      call.then(
        () => expect.fail(),
        (error: Error) => error,
      )
    const late = await failure(client('records', { timeout: { request: 20 } }))
    const refused = await failure(client('https://127.0.0.1:1/', { prefixUrl: '' }))
    expect(late).toBeInstanceOf(refused.constructor)
    expect(late).toMatchObject({ name: 'TimeoutError', code: 'ETIMEDOUT', event: 'request' })
    sandbox.control.restoreIssuer()
    const signal = AbortSignal.abort(new DOMException('late', 'TimeoutError'))
    const ofGot = await failure(version(sandbox.weblinkUrl, { signal }))
    expect(ofGot.name).toBe('TimeoutError')
    expect(late).toBeInstanceOf(ofGot.constructor)
    await tokens.close({ timeout: 0 })
  },
)

test('got 15 sends a form again after a 401, as it was, and only where no hook has replaced it', async () => {
  const tokens = createManager()
  const client = (got15 as unknown as Got).extend({ prefixUrl: sandbox.weblinkUrl }, gotTokens(tokens))
  const body = new FormData()
  body.set('a', 'b')
  const contentType: unknown = expect.stringMatching(/^multipart\/form-data; boundary=/)
  const whole = await client.post('echo', { body }).json<{ length: number }>()
  await revoke(tokens)
  expect(await client.post('echo', { body }).json()).toMatchObject({ contentType, length: whole.length })
  expect(calls()).toBe(2)

  await revoke(tokens)
  const replace: BeforeRequestHook = (options) => {
    options.body = 'other'
  }
  const replaced = client.post('echo', { body, hooks: { beforeRequest: [replace] } })
  expect(await replaced.json()).toMatchObject({ length: 5 })
  // within a second of the last renewal, a refused call is sent with the same token once more
  expect([2, 3]).toContain(calls())
  await tokens.close({ timeout: 0 })
})
