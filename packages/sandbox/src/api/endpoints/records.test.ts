import type { IncomingMessage } from 'node:http'

import { expect, test } from 'vitest'

import type { Answer } from '../../server/answer.ts'
import { recordsEndpoint } from './records.ts'

const baseUrl = 'https://127.0.0.1:1/api/'

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
