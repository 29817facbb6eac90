import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { fakeTokens } from '@tokenlane/core/testing'
import { clients } from './clients.ts'

// an API without TLS, which a manager would refuse
const api = createServer(({ headers }, response) => {
  response.setHeader('content-type', 'application/json').end(JSON.stringify(headers.authorization ?? null))
}).listen(0)
afterAll(() => void api.close())
const base = `http://localhost:${(api.address() as AddressInfo).port}/`

const tokens = fakeTokens({ apis: [base], token: 'abc' })
beforeEach(() => tokens.reset())

describe.each(Object.entries(clients))('%s', (_, clientOf) => {
  const client = clientOf(tokens)

  test('a call has the token, and is counted', async () => {
    expect(await client(`${base}records`)).toBe('Bearer abc')
    expect(tokens.counts(base)).toEqual({ calls: 1, sends: 1, queued: 0 })
  })

  test('a call whose token is refused once is sent again with the next one', async () => {
    tokens.refuseOnce()
    expect(await client(`${base}records`)).toBe('Bearer abc-2')
    expect(tokens.counts(base)).toEqual({ calls: 1, sends: 2, queued: 0 })
  })

  test('a call that gets no token is not sent', async () => {
    tokens.failOnce('TOKEN_REQUEST_TIMEOUT')
    await expect(client(`${base}records`)).rejects.toMatchObject({ code: 'TOKEN_REQUEST_TIMEOUT' })
    expect(tokens.counts(base)).toEqual({ calls: 1, sends: 0, queued: 0 })
  })

  test('a call that is held goes when it is released', async () => {
    using hold = tokens.hold()
    const waiting = client(`${base}records`)
    await hold.queued(1)
    expect(tokens.counts(base)).toEqual({ calls: 1, sends: 0, queued: 1 })
    hold.release()
    expect(await waiting).toBe('Bearer abc')
  })
})
