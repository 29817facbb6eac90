import type { IncomingMessage } from 'node:http'
import { describe, expect, test } from 'vitest'

import { recordsEndpoint, redirectEndpoint, slowEndpoint, statusEndpoint } from './endpoints.ts'
import type { Answer } from '../server/answer.ts'

const baseUrl = 'https://127.0.0.1:1/api/'

describe('records', () => {
  async function page(
    query: string,
    total = 250,
    method = 'GET',
  ): Promise<Answer & { json: Record<string, unknown> }> {
    const request = { method } as IncomingMessage
    const answer = await recordsEndpoint(total)({
      request,
      rest: '',
      query: new URLSearchParams(query),
      baseUrl,
    })
    return { ...answer, json: JSON.parse(answer.body ?? '') as Record<string, unknown> }
  }

  test('the first page has 100 records', async () => {
    const { json } = await page('')
    expect(json).toMatchObject({ page: 1, pages: 3, total: 250, next: `${baseUrl}records?page=2&size=100` })
    expect(json['records']).toHaveLength(100)
  })

  test('the last page has the rest, and no next page', async () => {
    const { json } = await page('page=3')
    expect(json['next']).toBeNull()
    expect(json['records']).toHaveLength(50)
  })

  test('a page after the last one is empty', async () => {
    expect((await page('page=4')).json).toMatchObject({ page: 4, next: null, records: [] })
  })

  test('without records there are no pages', async () => {
    expect((await page('', 0)).json).toEqual({ page: 1, pages: 0, total: 0, next: null, records: [] })
  })

  test('1,000 records to a page are allowed, one more is not', async () => {
    expect((await page('size=1000')).status).toBe(200)
    expect((await page('size=1001')).status).toBe(400)
  })

  test.each(['page=0', 'page=-1', 'page=1.5', 'page=', 'page=two', 'size=0', 'size=1e2'])(
    '%s is refused',
    async (query) => {
      expect((await page(query)).status).toBe(400)
    },
  )

  test('records cannot be written', async () => {
    const { status, headers } = await page('', 250, 'POST')
    expect(status).toBe(405)
    expect(headers?.['allow']).toBe('GET, HEAD')
  })
})

describe('redirect', () => {
  const redirect = async (query: Record<string, string>) =>
    redirectEndpoint({ request: {} as IncomingMessage, rest: '', query: new URLSearchParams(query), baseUrl })

  test('302 is the default', async () => {
    const { status, headers } = await redirect({ to: 'https://example.com/' })
    expect(status).toBe(302)
    expect(headers?.['location']).toBe('https://example.com/')
  })

  test.each([
    ['records/7', 'https://127.0.0.1:1/api/records/7'],
    ['/outside/x', 'https://127.0.0.1:1/outside/x'],
    ['//example.com/\r\nx: y', 'https://example.com/x:%20y'],
  ])('%j is resolved against the base URL', async (to, location) => {
    expect((await redirect({ to })).headers?.['location']).toBe(location)
  })

  test.each([{}, { to: '' }, { to: 'https://' }, { to: '/', status: '200' }, { to: '/', status: '300' }])(
    '%j is refused',
    async (query) => {
      expect((await redirect(query as Record<string, string>)).status).toBe(400)
    },
  )
})

describe('slow', () => {
  const slow = async (query: string) =>
    slowEndpoint({
      request: {} as IncomingMessage,
      rest: '',
      query: new URLSearchParams(query),
      baseUrl: 'https://x/',
    })

  test('the response comes after the time', async () => {
    const start = performance.now()
    expect((await slow('ms=20')).body).toBe('{"waited":20}')
    expect(performance.now() - start).toBeGreaterThanOrEqual(19)
  })

  test.each(['', 'ms=', 'ms=-1', 'ms=1.5', 'ms=600001'])('%j is refused', async (query) => {
    expect((await slow(query)).status).toBe(400)
  })
})

describe('status', () => {
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
})
