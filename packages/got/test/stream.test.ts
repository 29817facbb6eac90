import { once } from 'node:events'
import { Readable } from 'node:stream'

import { HTTPError } from 'got'
import { describe, expect, test, vi } from 'vitest'

import {
  bytes,
  calls,
  client,
  controller,
  failApi,
  failure,
  line,
  occupy,
  retry,
  revoke,
  sha256,
  tokenRequests,
  tokens,
  useService,
} from './service.ts'

await useService()

describe('a stream', () => {
  test('has the token, and its 401 makes the next one renew', async () => {
    await revoke(tokens)
    expect(await failure(client.stream('records').toArray())).toBeInstanceOf(HTTPError)
    expect([calls(), tokenRequests()]).toEqual([1, 0])
    expect((await client.stream('records').toArray()).length).toBeGreaterThan(0)
    expect(tokenRequests()).toBe(1)
  })

  test('with `throwHttpErrors: false` has its 401 too, and the next one renews', async () => {
    await revoke(tokens)
    expect((await client.stream('records', { throwHttpErrors: false }).toArray()).length).toBeGreaterThan(0)
    expect([calls(), tokenRequests()]).toEqual([1, 0])
    expect((await client.stream('records').toArray()).length).toBeGreaterThan(0)
  })

  test('sends what is piped to it', async () => {
    const { signal } = controller
    const stream = Readable.from([bytes]).pipe(client.stream.post('echo', { signal }))
    expect(JSON.parse(Buffer.concat(await stream.toArray()).toString())).toMatchObject({ sha256 })
  })

  test('that is destroyed gives its slot back: in line, in flight, unread', async () => {
    const release = await occupy()
    const waiting = client.stream('records')
    await vi.waitFor(() => expect(line()?.queued).toBe(1))
    waiting.destroy()
    await vi.waitFor(() => expect(line()?.queued).toBe(0))
    release()

    const going = client.stream('slow?ms=60000')
    await vi.waitFor(() => expect(calls()).toBe(1))
    going.destroy()

    const unread = client.stream('records')
    await once(unread, 'response')
    unread.destroy()
  })

  test('that is open holds no slot', async () => {
    const open = client.stream('records')
    await once(open, 'response')
    // there is only one
    expect((await client.stream('records').toArray()).length).toBeGreaterThan(0)
    open.destroy()
  })

  test('that the caller retries has a token again', async () => {
    failApi(503, 1)
    const first = client.stream('records', { retry })
    const [, , createRetryStream] = (await once(first, 'retry')) as [number, Error, () => typeof first]
    expect((await createRetryStream().toArray()).length).toBeGreaterThan(0)
  })
})
