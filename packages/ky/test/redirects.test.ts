import { openScriptedApi } from '@tokenlane/conformance'
import { HTTPError, NetworkError, type Options } from 'ky'
import { describe, expect, test, vi } from 'vitest'

import {
  sandbox,
  weblink,
  outside,
  redirect,
  calls,
  tokenRequests,
  client,
  bare,
  type Fetch,
  bytes,
  sha256,
  admitted,
  failure,
  useService,
} from './support.ts'

await useService()

describe('a redirect', () => {
  test('inside the API is followed with the token, and waits for its turn', async () => {
    const response = await client(redirect('records?page=2'))
    for (const each of [response, response.clone(), response.clone().clone()])
      expect(each).toMatchObject({ status: 200, redirected: true, url: weblink('records?page=2') })
    expect(admitted()).toBe(2)
  })

  test('inside the API renews the token', async () => {
    const revoking = async (...request: Parameters<Fetch>): Promise<Response> => {
      const response = await globalThis.fetch(...request)
      if (response.status === 307) sandbox.control.revokeTokens('weblink')
      return response
    }
    const options = { body: bytes, fetch: revoking }
    expect(await client.post(redirect('echo', 307), options).json()).toMatchObject({ sha256 })
    expect(calls()).toBe(3)
  })

  test.each([301, 302, 303, 307, 308])('%i out of the API carries no token', async (status) => {
    expect(await client(redirect(outside(), status)).json()).toEqual({ authorization: false })
  })

  test('to another API carries no token, and none of the other', async () => {
    await expect(client(redirect(`${sandbox.apiUrl}records`))).rejects.toThrow(HTTPError)
    expect([calls(), tokenRequests()]).toEqual([1, 1])
    expect(sandbox.control.counts().issuers.general.requests).toBe(0)
  })

  test.each([302, 303])('%i turns a POST into a GET without a body', async (status) => {
    expect((await client.post(redirect('records', status), { json: {} })).status).toBe(200)
  })

  test.each([307, 308])('%i sends the body again', async (status) => {
    const echo = await client.post(redirect('echo', status), { body: bytes }).json()
    const headers = { 'content-length': `${bytes.length}` }
    expect(echo).toMatchObject({ method: 'POST', sha256, headers })
  })

  test('307 is followed where ky has made a stream of the body, to report progress', async () => {
    const options = { body: bytes, onUploadProgress: () => {} }
    const api = await openScriptedApi(() => ({ status: 307, headers: { location: '/' } }))
    expect(await failure(bare.post(api.url, options))).toBeInstanceOf(NetworkError)
    expect(api.requests.length).toBe(1)
    await api.close()
    expect(await client.post(redirect('echo', 307), options).json()).toMatchObject({ method: 'POST', sha256 })
  })

  test('307 of a stream is a NetworkError, as with ky alone', async () => {
    const body = new Blob([bytes]).stream()
    expect(await failure(client.post(redirect('echo', 307), { body }))).toBeInstanceOf(NetworkError)
    expect(calls()).toBe(1)
  })

  test('is followed 20 times, and no more', async () => {
    const fetch = vi.fn<Fetch>(async () => new Response(null, { status: 302, headers: { location: '' } }))
    await expect(client(weblink('loop'), { fetch })).rejects.toThrow(NetworkError)
    expect(fetch).toHaveBeenCalledTimes(21)
  })

  test('is left to the caller who wants so', async () => {
    const options: Options = { redirect: 'manual', throwHttpErrors: false }
    expect((await client(redirect('records'), options)).status).toBe(302)
    await expect(client(redirect('records'), { redirect: 'error' })).rejects.toThrow(NetworkError)
  })
  test.each([
    ['text', { body: 'text' }],
    ['JSON', { json: { id: 7 } }],
    ['bytes', { body: bytes }],
  ])('is left to the caller who wants so after a 401, too: no token follows it with %s', async (_, body) => {
    const outcomes: unknown[] = []
    for (const how of ['manual', 'error'] as const) {
      await client(weblink('records'))
      sandbox.control.revokeTokens('weblink')
      sandbox.control.resetCounts()
      const call = client.post(redirect(outside(), 307), { ...body, redirect: how, throwHttpErrors: false })
      const outcome = call.then(
        ({ status }) => status,
        ({ name }: Error) => name,
      )
      outcomes.push(await outcome, calls())
    }
    expect(outcomes).toEqual([307, 2, 'NetworkError', 2])
  })
})
