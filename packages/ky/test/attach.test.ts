import ky from 'ky'
import ky1 from 'ky-1'
import ky2 from 'ky-2'
import ky201 from 'ky-2.0'
import ky202 from 'ky-2.1'
import { describe, expect, test } from 'vitest'

import { kyTokens } from '../src/index.ts'
import {
  createManager,
  weblink,
  calls,
  tokenRequests,
  outside,
  revoke,
  tokens,
  client,
  bare,
  admitted,
  answering,
  useService,
} from './support.ts'

await useService()

describe('kyTokens', () => {
  test('twice is once', async () => {
    const twice = client.extend(kyTokens(tokens))
    await revoke(tokens)
    expect((await twice(weblink('records'))).status).toBe(200)
    expect([calls(), admitted()]).toEqual([2, 2])
  })

  test('of two managers, each for its own APIs', async () => {
    const other = createManager({ apis: [] })
    for (const both of [
      client.extend(kyTokens(other)),
      bare.extend(kyTokens(other)).extend(kyTokens(tokens)),
    ])
      expect((await both(weblink('records'))).status).toBe(200)
    expect(tokenRequests()).toBe(1)
    await other.close()
  })

  test("sends with the instance's fetch, or the call's", async () => {
    const ofInstance = answering()
    const ofCall = answering()
    const instance = ky.create({ fetch: ofInstance.fetch }).extend(kyTokens(tokens))
    await instance(weblink('records'))
    await instance(weblink('records'), { fetch: ofCall.fetch })
    expect(ofInstance.seen).toEqual([expect.stringMatching(/^Bearer /)])
    expect(ofCall.seen).toEqual(ofInstance.seen)
  })

  test('refuses wrong arguments at once', () => {
    const refused = expect.objectContaining({ code: 'INVALID_OPTIONS' })
    expect(() => kyTokens(undefined as never)).toThrow(refused)
  })

  test('says what got needs where they were given to got, which gives the hook its own options too', () => {
    const [init] = kyTokens(tokens).hooks.init as ((...given: object[]) => void)[]
    expect(() => init?.({}, {})).toThrow('must be ky; for got, use `gotTokens` of @tokenlane/got')
  })

  test('says at each call which version is needed where ky is too old, and nothing is sent', async () => {
    const old = ky1.extend(kyTokens(tokens) as never)
    for (const url of [weblink('records'), outside()])
      await expect(old(url, { retry: 2 })).rejects.toMatchObject({
        code: 'INVALID_OPTIONS',
        message: expect.stringMatching(/needs ky 2\.0 or later .* Node 22 or later/),
      })
    expect([calls(), tokenRequests()]).toEqual([0, 0])
  })

  const older = [ky2, ky201, ky202] as unknown as (typeof ky)[]
  test.each(older)('serves ky 2.0: the token, its renewal, and no token out of the API', async (version) => {
    const oldest = version.extend(kyTokens(tokens))
    await revoke(tokens)
    expect((await oldest(weblink('records'))).status).toBe(200)
    expect(calls()).toBe(2)
    const searchParams = { to: outside() }
    expect(await oldest(weblink('redirect'), { searchParams }).json()).toEqual({ authorization: false })
  })
})
