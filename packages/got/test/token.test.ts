import { lookup } from 'node:dns'
import { once } from 'node:events'
import { Agent } from 'node:http'

import { printed } from '@tokenlane/conformance/every-error'
import got, { HTTPError, type RequestError, TimeoutError, type Response } from 'got'
import { describe, expect, test, vi } from 'vitest'

import { gotTokens } from '../src/index.ts'
import {
  calls,
  client,
  createManager,
  failure,
  occupy,
  outside,
  sandbox,
  serve,
  tokenRequests,
  tokens,
  useService,
} from './service.ts'

await useService()

describe('the token', () => {
  test('goes with a call to an API', async () => {
    expect((await client('records', { searchParams: { page: 1 } })).statusCode).toBe(200)
    expect(await client('records').json()).toBeInstanceOf(Object)
    expect((await client(`${sandbox.apiUrl}records`, { prefixUrl: '' })).statusCode).toBe(200)
    expect(tokenRequests()).toBe(1)
  })

  test('goes with calls at the same time, one by one where the API wants it', async () => {
    await Promise.all(Array.from({ length: 8 }, () => client('records')))
    expect(sandbox.control.counts().apis.weblink).toMatchObject({ answered: 8, maxConcurrent: 1 })
  })

  test('does not go with a call that brings Authorization or a user name of its own', async () => {
    const release = await occupy()
    const own = { throwHttpErrors: false, headers: { Authorization: 'Bearer mine' } }
    expect((await client('records', own)).statusCode).toBe(401)
    const user = { throwHttpErrors: false, username: 'a', password: 'b' }
    expect((await client('records', user)).statusCode).toBe(401)
    expect([calls(), tokenRequests()]).toEqual([2, 1])
    release()
  })

  test('does not go where a hook sends the call', async () => {
    const away = client.extend({
      handlers: [
        (options, next) => {
          options.hooks.beforeRequest.push((late) => {
            late.prefixUrl = ''
            late.url = outside()
          })
          return next(options)
        },
      ],
    })
    expect(await away('records').json()).toEqual({ authorization: false })
  })

  test('is not known: nothing is sent, and the error is ours', async () => {
    sandbox.control.failIssuer('weblink', { status: 400, body: { error: 'invalid_client' } })
    const refused = { name: 'TokenlaneError', code: 'TOKEN_REQUEST_REFUSED' }
    expect(await failure(client('records'))).toMatchObject(refused)
    expect(await failure(client.stream('records').toArray())).toMatchObject(refused)
    expect(calls()).toBe(0)
  })

  test('is printed of nothing that got leaves', async () => {
    const { value } = await tokens.getToken('weblink')
    const response = await client('records')
    const error = await failure(client('status/503'))
    const timeout = await failure(client('slow?ms=60000', { timeout: { request: 50 } }))
    expect([error, timeout]).toEqual([expect.any(HTTPError), expect.any(TimeoutError)])
    const stream = client.stream('records')
    const [streamed] = (await once(stream, 'response')) as [Response]
    for (const left of [response, error, timeout, streamed])
      for (const kept of [left, left.request, (left as RequestError).response, stream])
        expect(printed(kept)).not.toContain(value)
    stream.destroy()
  })

  test('is not printed with an agent that connects another call', async () => {
    const { url, stop } = await serve((_, response) => response.end())
    const baseUrl = url.replace('127.0.0.1', 'localhost')
    const manager = createManager({ apis: [{ baseUrl, issuer: 'weblink' }] })
    const { value } = await manager.getToken('weblink')
    const http = new Agent({ keepAlive: false })
    const local = got.extend({ agent: { http } }, gotTokens(manager))
    const held = Promise.withResolvers<void>()
    const dnsLookup = vi.fn((...asked: unknown[]) => {
      void held.promise.then(() => (lookup as (...asked: unknown[]) => void)(...asked))
    })
    const call = local(baseUrl, { dnsLookup })
    await vi.waitFor(() => expect(dnsLookup).toHaveBeenCalled())
    expect(Object.keys(http.sockets)).toHaveLength(1)
    expect(printed(http)).not.toContain(value)
    held.resolve()
    await call
    stop()
    await manager.close()
  })
})
