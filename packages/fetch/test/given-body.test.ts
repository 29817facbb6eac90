import { runInNewContext } from 'node:vm'

import { fakeTokens } from '@tokenlane/core/testing'
import { FormData as OtherFormData } from 'undici'
import { expect, test } from 'vitest'

import { createFetch } from '../src/index.ts'

type Body = NonNullable<RequestInit['body']>

const url = 'https://api.example.com/records'
const bytes = (): Uint8Array<ArrayBuffer> => new TextEncoder().encode('a page')

/** What a caller gives, and how it changes that after its call. */
const given: Record<string, () => readonly [Body, () => void]> = {
  URLSearchParams() {
    const body = new URLSearchParams('page=1')
    return [body, () => body.set('page', '2')]
  },
  FormData() {
    const body = new FormData()
    body.append('page', '1')
    body.append('page', new File(['a'], 'a.txt', { type: 'text/own' }))
    return [body, () => body.delete('page')]
  },
  'a Uint8Array': () => {
    const body = bytes()
    return [body, () => body.fill(0)]
  },
  'a part of a Buffer': () => {
    const body = Buffer.from('more than a page').subarray(5)
    return [body, () => body.fill(0)]
  },
  'a DataView': () => {
    const body = new DataView(bytes().buffer)
    return [body, () => body.setInt8(0, 0)]
  },
  'an ArrayBuffer': () => {
    const body = bytes().buffer
    return [body, () => new Uint8Array(body).fill(0)]
  },
  "an ArrayBuffer of Jest's own realm": () => {
    const body = runInNewContext('new Uint8Array([65, 66]).buffer') as ArrayBuffer
    return [body, () => new Uint8Array(body).fill(0)]
  },
  "a Uint8Array of Jest's own realm": () => {
    const body = runInNewContext('new Uint8Array([65, 66])') as Uint8Array<ArrayBuffer>
    return [body, () => body.fill(0)]
  },
}

/** What was sent, without the boundary of a form. */
async function shown(init: RequestInit): Promise<string> {
  const type = new Request(url, init).headers.get('content-type') ?? ''
  return `${type} ${await new Request(url, init).text()}`.replaceAll(/-{4,}[\w-]+/g, 'boundary')
}

// as of a caller that uses one object again in a loop, and does not wait for each call
test.each(Object.entries(given))(
  '%s that changes while its call waits is sent as it was at the call, and so after a 401',
  async (_, make) => {
    const tokens = fakeTokens({ apis: ['https://api.example.com/'] })
    const sent: Promise<string>[] = []
    const fetch = createFetch(tokens, {
      fetch: async (_url, init) => {
        sent.push(shown(init as RequestInit))
        return new Response()
      },
    })
    const [body, change] = make()
    const expected = await shown({ method: 'POST', body })
    tokens.refuseOnce()
    const held = tokens.hold()
    const call = fetch(url, { method: 'POST', body })
    change()
    held.release()
    await call
    expect(await Promise.all(sent)).toEqual([expected, expected])
  },
)

test("another package's form stays one of that package", async () => {
  const tokens = fakeTokens({ apis: ['https://api.example.com/'] })
  const sent: unknown[] = []
  const fetch = createFetch(tokens, {
    fetch: async (_, init) => {
      sent.push(init?.body)
      return new Response()
    },
  })
  const body = new OtherFormData()
  body.set('page', '1')
  await fetch(url, { method: 'POST', body: body as never })
  const [form] = sent
  expect(form).toBeInstanceOf(OtherFormData)
  expect([...(form as OtherFormData)]).toEqual([['page', '1']])
})

test('the headers of a Request that change while its call waits are sent as they were', async () => {
  const tokens = fakeTokens({ apis: ['https://api.example.com/'] })
  const sent: (string | null)[] = []
  const fetch = createFetch(tokens, {
    fetch: async (input, init) => {
      sent.push(new Request(input, init).headers.get('x-page'))
      return new Response()
    },
  })
  const request = new Request(url, { headers: { 'x-page': '1' } })
  tokens.refuseOnce()
  const held = tokens.hold()
  const call = fetch(request)
  request.headers.set('x-page', '2')
  held.release()
  await call
  expect(sent).toEqual(['1', '1'])
})

test.each([
  ['a buffer', (buffer: ArrayBuffer) => buffer],
  ['a view', (buffer: ArrayBuffer) => new Uint8Array(buffer)],
] as const)('%s whose bytes were moved elsewhere is sent as fetch sends it', async (_, bodyOf) => {
  const tokens = fakeTokens({ apis: ['https://api.example.com/'] })
  const sent: string[] = []
  const fetch = createFetch(tokens, {
    fetch: async (input, init) => {
      sent.push(await new Request(input, init).text())
      return new Response()
    },
  })
  const buffer = new ArrayBuffer(4)
  const body = bodyOf(buffer)
  structuredClone(buffer, { transfer: [buffer] })
  await fetch(url, { method: 'POST', body })
  expect(sent).toEqual([''])
})
