import { AxiosHeaders, type InternalAxiosRequestConfig } from 'axios'
import { expect, onTestFinished, test, vi } from 'vitest'

import { withWholeBody } from './whole-body.ts'

const config = (data: unknown): InternalAxiosRequestConfig => ({
  data,
  headers: new AxiosHeaders({ 'Content-Type': 'text/own' }),
})

test('a Blob becomes its bytes, with its type as axios sets it', async () => {
  const whole = await withWholeBody(config(new Blob(['abc'], { type: 'text/csv' })))
  expect(whole.data).toEqual(Buffer.from('abc'))
  expect(whole.headers.getContentType()).toBe('text/csv')
})

test('a Blob without a type is application/octet-stream', async () => {
  const whole = await withWholeBody(config(new Blob(['abc'])))
  expect(whole.headers.getContentType()).toBe('application/octet-stream')
})

test('a form becomes its bytes, with the boundary in its type', async () => {
  const form = new FormData()
  form.set('name', 'value')
  const whole = await withWholeBody(config(form))
  const [, boundary = ''] = /boundary=(.+)$/.exec(String(whole.headers.getContentType())) ?? []
  expect(String(whole.data)).toContain(
    `${boundary}\r\nContent-Disposition: form-data; name="name"\r\n\r\nvalue`,
  )
})

test('a form ends with a line break as axios ends it, where the runtime leaves that out', async () => {
  const made = vi.spyOn(Response.prototype, 'arrayBuffer').mockResolvedValue(Uint8Array.of(45, 45).buffer)
  onTestFinished(() => made.mockRestore())
  expect(String((await withWholeBody(config(new FormData()))).data)).toBe('--\r\n')
})

test('the configuration of the caller keeps its body and its headers', async () => {
  const given = config(new Blob(['abc']))
  await withWholeBody(given)
  expect(given.data).toBeInstanceOf(Blob)
  expect(given.headers.getContentType()).toBe('text/own')
})

test('any other body stays as it is', async () => {
  const given = config('text')
  expect(await withWholeBody(given)).toBe(given)
})
