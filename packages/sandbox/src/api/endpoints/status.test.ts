import type { IncomingMessage } from 'node:http'

import { expect, test } from 'vitest'

import { statusEndpoint } from './status.ts'

const answerTo = async (rest: string) =>
  statusEndpoint({
    request: {} as IncomingMessage,
    rest,
    query: new URLSearchParams(),
    baseUrl: 'https://x/',
  })

test.each([200, 418, 429, 500, 599])('%i is answered with a body', async (status) => {
  expect(await answerTo(`${status}`)).toMatchObject({ status, body: JSON.stringify({ status }) })
})

test.each([204, 205, 304])('%i is answered without a body', async (status) => {
  expect(await answerTo(`${status}`)).toEqual({ status })
})

test('401 comes with a challenge', async () => {
  expect((await answerTo('401')).headers?.['www-authenticate']).toBe('Bearer error="invalid_token"')
})

test.each(['', '100', '199', '600', '20x', '200/x'])('%j is not a status', async (rest) => {
  expect((await answerTo(rest)).status).toBe(404)
})
