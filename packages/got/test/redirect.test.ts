import { describe, expect, test } from 'vitest'

import {
  bytes,
  calls,
  client,
  failure,
  line,
  outside,
  sandbox,
  serve,
  sha256,
  tokenRequests,
  tokens,
  useService,
} from './service.ts'

await useService()

describe('a redirect', () => {
  const to = (url: string, status = 302) => ({ searchParams: { to: url, status } })

  test('inside the API is followed with the token, which is renewed if it must', async () => {
    expect((await client('redirect', to('records'))).statusCode).toBe(200)
    const beforeRedirect = [() => sandbox.control.revokeTokens('weblink')]
    const { statusCode } = await client('redirect', { ...to('records'), hooks: { beforeRedirect } })
    expect([statusCode, calls()]).toEqual([200, 5])
    const echo = await client.post('redirect', { ...to('echo', 307), body: bytes }).json()
    expect(echo).toMatchObject({ sha256 })
  })

  test('out of the API carries no token and holds nothing', async () => {
    const beforeRedirect = [() => void setImmediate(() => held.push(line()?.running))]
    const held: unknown[] = []
    const call = client('redirect', { ...to(outside()), hooks: { beforeRedirect } })
    expect(await call.json()).toEqual({ authorization: false })
    expect(held).toEqual([0])
  })

  test('to another API carries no token, nor does one that leads back', async () => {
    const { response } = await failure(client('redirect', to(`${sandbox.apiUrl}records`)))
    expect(response?.statusCode).toBe(401)
    const back = new URL(`${sandbox.apiUrl}redirect`)
    back.searchParams.set('to', `${sandbox.weblinkUrl}records`)
    expect((await failure(client('redirect', to(back.href)))).response?.statusCode).toBe(401)
    expect(sandbox.control.counts().issuers.general.requests).toBe(0)
    expect(tokenRequests()).toBe(1)
  })

  test('from elsewhere to an API carries no token', async () => {
    const { url, stop } = await serve((_, response) => {
      response.writeHead(302, { location: `${sandbox.weblinkUrl}records` }).end()
    })
    expect((await failure(client(url, { prefixUrl: '' }))).response?.statusCode).toBe(401)
    expect(tokenRequests()).toBe(0)
    stop()
  })
})

test('a call of an API that closes while it is redirected ends as it would', async () => {
  const beforeRedirect = [() => void (closing = tokens.close())]
  let closing: Promise<void> | undefined
  const options = { searchParams: { to: 'records', status: 303 }, hooks: { beforeRedirect } }
  expect((await client.post('redirect', options)).statusCode).toBe(200)
  await closing
  expect(await failure(client('records'))).toMatchObject({ code: 'MANAGER_CLOSED' })
})
