import got, { HTTPError, RequestError, type Response } from 'got'
import { expect, test, vi } from 'vitest'

import { gotTokens } from '../src/index.ts'
import {
  bare,
  calls,
  client,
  controller,
  createManager,
  failure,
  managerFor,
  retry,
  revoke,
  sandbox,
  serve,
  tokenRequests,
  tokens,
  useService,
} from './service.ts'

await useService()

test('a URL outside every API sees the same request as with got alone', async () => {
  const seen: unknown[] = []
  const { url, stop } = await serve((request, response) => {
    seen.push([request.method, request.url, request.rawHeaders])
    response.end()
  })
  const options = { prefixUrl: '', json: { x: 1 }, headers: { 'X-Some': 'Thing' }, searchParams: { e: 'f' } }
  for (const instance of [bare, client]) await instance.put(url, options)
  expect(seen[0]).toEqual(seen[1])
  stop()
})

test('options that got refuses are refused by got', async () => {
  expect(await failure(client('records', { prefixUrl: 'no URL' }))).toBeInstanceOf(RequestError)
  expect(await failure(client('records', { nothing: 1 } as never))).toBeInstanceOf(RequestError)
})

test.each<[string, (response: Response) => object]>([
  ['new options', () => ({ searchParams: { page: 2 } })],
  ['the options of the last one', (response) => response.request.options],
])('pages are calls of their own, with %s', async (_, next) => {
  const pages = client.paginate.all<string>('records', {
    responseType: 'json',
    pagination: {
      transform: (response) => {
        sandbox.control.revokeTokens('weblink')
        return [response.url]
      },
      paginate: ({ response }) => next(response),
      requestLimit: 3,
    },
  })
  expect(await pages).toHaveLength(3)
  expect(tokenRequests()).toBe(3)
  // within a second of the last renewal, a refused call is sent with the same token once more
  expect([5, 6]).toContain(calls())
})

test('hooks that fail leave nothing behind', async () => {
  const fail = (): never => {
    throw new Error('mine')
  }
  for (const hooks of [{ beforeRequest: [fail] }, { afterResponse: [fail] }, { beforeRedirect: [fail] }])
    expect(await failure(client('redirect?to=records', { hooks }))).toMatchObject({ message: 'mine' })
  await revoke(tokens)
  expect(await failure(client('records', { hooks: { beforeRetry: [fail] } }))).toMatchObject({
    message: 'mine',
  })
  expect(await failure(client('status/503').json())).toBeInstanceOf(HTTPError)
})

test("the caller's request function still runs, and may fail", async () => {
  await revoke(tokens)
  const broken = Object.assign(new Error('broken'), { code: 'ECONNRESET' })
  const request = vi
    .fn<() => undefined>(() => undefined)
    .mockImplementationOnce(() => {
      throw broken
    })
  expect((await client('records', { request, retry })).statusCode).toBe(200)
  expect([request.mock.calls.length, calls()]).toEqual([3, 2])
})

test('twice is once, and a second manager is another', async () => {
  const twice = client.extend(gotTokens(tokens))
  const other = managerFor(`${sandbox.weblinkUrl}other/`)
  const both = got.extend(twice, bare.extend(gotTokens(other)))
  for (const instance of [twice, both]) {
    await revoke(tokens)
    expect((await instance('records')).statusCode).toBe(200)
    expect(tokenRequests()).toBe(1)
    // within a second of the last renewal, a refused call is sent with the same token once more
    expect(instance === twice ? [2] : [2, 3]).toContain(calls())
  }
  expect((await failure(both('other/none'))).response?.statusCode).toBe(404)
  expect(other.status().apis[1]).toMatchObject({ running: 0, queued: 0 })
  await other.close()
})

test('refuses wrong arguments at once', () => {
  const refused = expect.objectContaining({ code: 'INVALID_OPTIONS' })
  expect(() => gotTokens(undefined as never)).toThrow(refused)
  expect(() => gotTokens({} as never)).toThrow(refused)
})

test('each call is reported once, with its status or with what it failed with', async () => {
  const finished: unknown[] = []
  const manager = createManager({
    observe: (event) => event.type === 'call.finished' && finished.push(event),
  })
  const observed = bare.extend(gotTokens(manager))
  await revoke(manager)
  await observed('records')
  await failure(observed('slow?ms=60000', { timeout: { request: 50 } }))
  const { signal } = controller
  const aborted = failure(observed('slow?ms=60000', { signal }))
  await vi.waitFor(() => expect(calls()).toBe(4))
  controller.abort()
  await aborted
  await failure(observed.stream('status/503').toArray())
  expect(finished).toMatchObject([
    { client: 'got', status: 200, sends: 2, resends: ['rejected'] },
    { client: 'got', code: 'ETIMEDOUT', sends: 1 },
    { client: 'got', code: 'ERR_ABORTED', sends: 1 },
    { client: 'got', status: 503, sends: 1 },
  ])
  await manager.close()
})
